// headscope make-task: small tasks with a known answer, to prove that training works.
#include <cstdint>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/train/pairs_output.h"
#include "options/option_values.h"
#include "support/counted.h"
#include "train/digits_task.h"

namespace headscope {
namespace {

struct DigitsOptions {
    std::string output;
    std::int64_t pairs = 20'000;
    std::int64_t valid = 200;
    std::int64_t test = 500;
    std::uint64_t seed = 1;
};

// The numbers are drawn without repetition, so that the parts cannot share one.
void make_digits(const DigitsOptions& options) {
    const auto numbers = make_digits_task(options.pairs + options.valid + options.test, options.seed);
    require_replaceable_pairs(options.output, {});
    PairsOutput output(options.output);
    std::int64_t done = 0;
    for (const DigitsPair& number : numbers) {
        const Part part = done < options.pairs                   ? Part::Train
                          : done < options.pairs + options.valid ? Part::Valid
                                                                 : Part::Test;
        output.write(part, number.digits, number.words);
        ++done;
    }
    output.commit();
    for (const Part part : {Part::Train, Part::Valid, Part::Test}) {
        write_output(fmt::format("{}: {}\n", output.path(part), counted(output.count(part), "pair")));
    }
}

}  // namespace

void add_make_task_command(CLI::App& app) {
    auto options = std::make_shared<DigitsOptions>();
    CLI::App* command = app.add_subcommand("make-task", "Generate a small task with a known answer")->group("Train");
    command->require_subcommand(1);
    command->footer("Example:\n  headscope make-task digits --output data/digits");
    CLI::App* digits =
        command->add_subcommand("digits", "Numbers in digits to German words: 1 7 4 2, eintausendsiebenhundert...");
    digits->footer(
        "Example:\n  headscope make-task digits --output data/digits\n"
        "  headscope train assets/configs/digits.json --data data/digits --output out/digits");
    digits
        ->add_option("--output", options->output,
                     "For train.tsv, valid.tsv and test.tsv; replaces only files that it generated")
        ->type_name("FOLDER")
        ->group("Output")
        ->required();
    digits->option_defaults()->group("Sizes");
    digits->add_option("--pairs", options->pairs, "Training pairs")
        ->check(whole_number(1, 900'000))
        ->capture_default_str();
    digits->add_option("--valid", options->valid, "Validation pairs")
        ->check(whole_number(0, 50'000))
        ->capture_default_str();
    digits->add_option("--test", options->test, "Test pairs")->check(whole_number(0, 50'000))->capture_default_str();
    digits->add_option("--seed", options->seed, "Random seed of the numbers")
        ->check(seed_number())
        ->capture_default_str();
    digits->callback([options] { make_digits(*options); });
}

}  // namespace headscope
