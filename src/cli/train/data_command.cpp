// headscope data: raw parallel text to training, validation and test files without overlap.
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "cli/command.h"
#include "cli/train/pairs_output.h"
#include "data/hold_out.h"
#include "data/pair_filter.h"
#include "data/pair_reader.h"
#include "data/wrong_targets.h"
#include "io/input_files.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

struct DataOptions {
    std::vector<std::string> tsv, source, target, exclude;
    CommonOptions common;
    std::string output;
    HoldOutSizes sizes{.valid = 1000, .test = 2000};
    FilterOptions filter;
    bool keep_identical = false, keep_duplicates = false;
    double wrong_targets = 0.0;
};

using Visit = std::function<void(const std::string& source, const std::string& target)>;

void strip_carriage_return(std::string& text) {
    if (!text.empty() && text.back() == '\r') {
        text.pop_back();
    }
}

// Returns how many byte order marks were left out.
std::int64_t for_each_pair(PairReader reader, const Visit& visit) {
    for (std::string source, target; reader.next_raw(source, target);) {
        strip_carriage_return(source);
        strip_carriage_return(target);
        visit(source, target);
    }
    return reader.byte_order_marks();
}

std::int64_t for_each_pair(const DataOptions& options, const Visit& visit) {
    std::int64_t marks = 0;
    for (const std::string& file : options.tsv) {
        marks += for_each_pair(PairReader(file, PairReader::FurtherColumns::Ignored), visit);
    }
    for (std::size_t i = 0; i < options.source.size(); ++i) {
        marks += for_each_pair(PairReader(options.source[i], options.target[i]), visit);
    }
    return marks;
}

// What the files hold, and the part each pair is in.
struct Plan {
    HoldOut hold_out;
    std::array<std::int64_t, kFindings> findings{};  // of pairs that are left out
    std::int64_t pairs = 0, byte_order_marks = 0, wrong_targets = 0;
};

Plan plan(const DataOptions& options) {
    Plan plan;
    for (const std::string& file : options.exclude) {
        plan.byte_order_marks += for_each_pair(
            PairReader(file, PairReader::FurtherColumns::Ignored),
            [&](const std::string& source, const std::string& target) { plan.hold_out.exclude(source, target); });
    }
    plan.byte_order_marks += for_each_pair(options, [&](const std::string& source, const std::string& target) {
        ++plan.pairs;
        if (PairFilter::look(source, target) == Finding::Good) {
            plan.hold_out.add(source, target);
        }
    });
    plan.hold_out.choose(options.sizes);
    return plan;
}

std::int64_t write_parts(const DataOptions& options, Plan& plan, PairsOutput& output) {
    PairFilter filter(options.filter);
    WrongTargets training(
        options.wrong_targets, options.sizes.seed,
        [&](const std::string& source, const std::string& target) { output.write(Part::Train, source, target); });
    std::size_t number = 0;
    std::int64_t shared = 0;
    for_each_pair(options, [&](const std::string& source, const std::string& target) {
        Finding finding = PairFilter::look(source, target);
        if (finding == Finding::Good) {
            const Part part = plan.hold_out.part_of(number++);
            shared += part == Part::Shared ? 1 : 0;
            finding = part == Part::Train ? filter.judge(source, target) : Finding::Good;
            if (finding == Finding::Good && part == Part::Train) {
                training.add(source, target);
            } else if (finding == Finding::Good && part != Part::Shared) {
                output.write(part, source, target);
            }
        }
        ++plan.findings[static_cast<std::size_t>(finding)];
    });
    training.end();
    plan.wrong_targets = training.count();
    return shared;
}

constexpr const char* kMarks = "byte order marks removed";
constexpr const char* kWrongTargets = "training pairs with another's target";

nlohmann::ordered_json counts_of(const Plan& plan, const PairsOutput& output, std::int64_t shared) {
    nlohmann::ordered_json json = {{"pairs", plan.pairs},
                                   {"train", output.count(Part::Train)},
                                   {"valid", output.count(Part::Valid)},
                                   {"test", output.count(Part::Test)},
                                   {"shares a side with held-out pairs", shared}};
    for (std::size_t i = 1; i < kFindings; ++i) {
        json[text_of(static_cast<Finding>(i))] = plan.findings[i];
    }
    json[kMarks] = plan.byte_order_marks;
    json[kWrongTargets] = plan.wrong_targets;
    return json;
}

// Where the pairs went that are not trained on.
std::string losses_of(const nlohmann::ordered_json& counts) {
    std::vector<std::string> found;
    for (const auto& [what, count] : counts.items()) {
        if (what != "pairs" && what != kMarks && what != kWrongTargets && count != 0) {
            found.push_back(fmt::format("{}: {}", what, count.get<std::int64_t>()));
        }
    }
    return fmt::format("{}", fmt::join(found, ", "));
}

void print(const nlohmann::ordered_json& json, bool as_json) {
    if (as_json) {
        write_output(json_document(json));
        return;
    }
    std::string text;
    for (const auto& [what, count] : json.items()) {
        if (count != 0 || what == "train") {
            text += fmt::format("{:>12} {}\n", count.get<std::int64_t>(), what);
        }
    }
    write_output(text);
}

void check(const DataOptions& options) {
    if (options.tsv.empty() && options.source.empty()) {
        throw UsageError("no text: give --tsv FILE, or --source FILE and --target FILE");
    }
    if (options.source.size() != options.target.size()) {
        throw UsageError(
            fmt::format("--source names {} and --target {}: the i-th of one translates the i-th of the other",
                        counted(options.source.size(), "file"), options.target.size()));
    }
    for (const auto* files : {&options.tsv, &options.source, &options.target}) {
        for (const std::string& file : *files) {
            if (!std::filesystem::is_regular_file(file)) {  // it is read twice
                throw Error(std::filesystem::exists(file) ? fmt::format("'{}' is not a file", file)
                                                          : fmt::format("'{}' does not exist", file));
            }
        }
    }
}

void prepare(DataOptions options) {
    check(options);
    InputFiles inputs;
    for (const auto* files : {&options.tsv, &options.source, &options.target, &options.exclude}) {
        inputs.add(*files);
    }
    require_replaceable_pairs(options.output, inputs);
    options.filter.drop_identical = !options.keep_identical;
    options.filter.drop_duplicates = !options.keep_duplicates;
    Plan found = plan(options);
    PairsOutput output(options.output);
    const std::int64_t shared = write_parts(options, found, output);
    if (output.count(Part::Train) == 0) {
        throw Error(fmt::format("no pair of {} is left to train on ({}); nothing was written", found.pairs,
                                losses_of(counts_of(found, output, shared))));
    }
    output.commit();
    print(counts_of(found, output, shared), options.common.json);
}

void add_inputs(CLI::App& command, DataOptions& options) {
    command.option_defaults()->group("Data");
    command.add_option("--tsv", options.tsv, "\"source TAB target\" lines; further columns are ignored")
        ->type_name("FILE");
    command.add_option("--source", options.source, "Sentences, one per line")->type_name("FILE");
    command.add_option("--target", options.target, "Their translations, one per line")->type_name("FILE");
    command
        .add_option("-o,--output", options.output,
                    "For train.tsv, valid.tsv and test.tsv; replaces only files that it generated")
        ->type_name("FOLDER")
        ->group("Output")
        ->required();
}

void add_parts(CLI::App& command, DataOptions& options) {
    command.option_defaults()->group("Held-out pairs");
    command.add_option("--valid", options.sizes.valid, "Validation pairs")
        ->check(whole_number(0, 1'000'000))
        ->capture_default_str();
    command.add_option("--test", options.sizes.test, "Test pairs")
        ->check(whole_number(0, 1'000'000))
        ->capture_default_str();
    CLI::Option* last =
        command.add_flag("--last", options.sizes.last, "Hold out the last pairs instead of random ones");
    command.add_option("--seed", options.sizes.seed, "Random seed of the choices")
        ->excludes(last)
        ->check(seed_number())
        ->capture_default_str();
    command
        .add_option("--exclude", options.exclude,
                    "Other held-out pairs (TSV): no training pair shares a side with them")
        ->type_name("FILE");
}

void add_filters(CLI::App& command, DataOptions& options) {
    command.option_defaults()->group("Filters");
    command.add_option("--most-words", options.filter.most_words, "Maximum words per side of a training pair; 0: any")
        ->check(whole_number(0, 1'000'000))
        ->capture_default_str();
    command
        .add_option("--most-ratio", options.filter.most_ratio,
                    "Maximum ratio of longer to shorter side, in characters plus five; 0: any")
        ->check(real_number(0.0, 1e6))
        ->capture_default_str();
    command.add_flag("--keep-identical", options.keep_identical, "Keep pairs whose sides are the same");
    command.add_flag("--keep-duplicates", options.keep_duplicates, "Keep repeated pairs");
    command
        .add_option("--wrong-targets", options.wrong_targets,
                    "Give this share of the training pairs, chosen at random, the target of another one: what mistakes "
                    "in a text do to a training")
        ->check(real_number(0.0, 1.0))
        ->group("Mistakes");
    options.common.add_json(command);
}

}  // namespace

void add_data_command(CLI::App& app) {
    auto options = std::make_shared<DataOptions>();
    CLI::App* command =
        app.add_subcommand("data", "Split parallel text into training, validation and test files")->group("Train");
    command->footer(
        "Files may be compressed by gzip, zstd, xz or bzip2. No held-out pair shares a side with a training pair, "
        "ignoring\n"
        "case, punctuation, white space, format characters, Unicode normal form and width. The filters apply to "
        "training\n"
        "pairs; held-out ones only need to be valid text. Skipped pairs are counted.\n\n"
        "Examples:\n"
        "  headscope data --tsv deu.txt --output data/tatoeba\n"
        "  headscope data --source my.en.gz --target my.de.gz --exclude data/tatoeba/test.tsv --output "
        "data/mine");
    add_inputs(*command, *options);
    add_parts(*command, *options);
    add_filters(*command, *options);
    command->callback([options] { prepare(*options); });
}

}  // namespace headscope
