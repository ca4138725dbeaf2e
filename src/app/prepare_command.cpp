// headscope prepare: parallel text to training, validation and test files without overlap.
#include <cstdint>
#include <memory>
#include <string>

#include "app/command.h"
#include "app/pairs_output.h"
#include "data/split.h"
#include "text/lines.h"

namespace headscope {
namespace {

struct PrepareOptions {
    std::string input;
    std::string output;
    std::int64_t valid = 1000;
    std::int64_t test = 2000;
    std::uint64_t seed = 1;
};

void prepare(const PrepareOptions& options) {
    const std::string file = options.input == "-" ? "/dev/stdin" : options.input;
    const auto pairs = parse_tsv(read_lines(file), options.input == "-" ? "standard input" : options.input);
    write_split(options.output, split_pairs(pairs, options.valid, options.test, options.seed));
}

}  // namespace

void add_prepare_command(CLI::App& app) {
    auto options = std::make_shared<PrepareOptions>();
    CLI::App* command = app.add_subcommand("prepare", "Split parallel text into training, validation and test files");
    command->footer(
        "No source sentence of the validation or test part, compared without case and punctuation, is in the training "
        "part.\n\nExample:\n  unzip -p deu-eng.zip deu.txt | headscope prepare - --output data/tatoeba");
    command->add_option("INPUT", options->input, "\"source TAB target\" lines, plain or gzip; - is standard input")
        ->required();
    command->add_option("--output", options->output, "Folder for train.tsv, valid.tsv and test.tsv")->required();
    command->add_option("--valid", options->valid, "Validation sentences")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str();
    command->add_option("--test", options->test, "Test sentences")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str();
    command->add_option("--seed", options->seed, "Which sentences are held out")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command->callback([options] { prepare(*options); });
}

}  // namespace headscope
