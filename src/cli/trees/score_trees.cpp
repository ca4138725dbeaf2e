// headscope trees score
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "cli/command.h"
#include "cli/trees/trees_actions.h"
#include "io/input_files.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "support/check.h"
#include "support/counted.h"
#include "text/lines.h"
#include "trees/score_report.h"
#include "trees/tree_reader.h"

namespace headscope {
namespace {

struct ScoreOptions {
    CommonOptions common;
    std::string gold, test = "-", rules;
    std::optional<std::int64_t> max_errors;
    bool evalb = false;
};

// The trees of the next line; std::nullopt at the end.
std::optional<std::vector<Tree>> next_trees(LineReader& reader) {
    std::string line;
    if (!reader.next(line)) {
        return {};
    }
    try {
        return parse_trees(line, fmt::format("{} line {}", reader.name(), reader.number()), EmptyBracket::Kept);
    } catch (const Error& error) {
        throw Error(fmt::format("{} (one sentence per line: headscope trees linearise --print trees)", error.what()));
    }
}

void score(const ScoreOptions& options) {
    InputFiles inputs;
    inputs.add({options.gold, options.test, options.rules});
    inputs.refuse("-");
    const ScoreRules rules = options.rules.empty() ? ScoreRules() : read_score_rules(options.rules);
    const std::int64_t most = options.max_errors.value_or(rules.max_errors + 1);
    LineReader gold_lines(options.gold);
    LineReader test_lines(options.test);
    ScoreReport report(rules.cutoff);
    while (true) {
        const std::optional<std::vector<Tree>> gold = next_trees(gold_lines);
        const std::optional<std::vector<Tree>> test = next_trees(test_lines);
        if (!gold && !test) {
            break;
        }
        if (!gold || !test) {
            throw Error(fmt::format("{} and {} must have equally many lines, but one ends after {}", gold_lines.name(),
                                    test_lines.name(), counted(report.all().sentences, "line")));
        }
        const TreeScore one = score_trees(*gold, *test, rules);
        report.add(one);
        if (one.status == ScoreStatus::Error) {
            log_line(fmt::format("headscope: line {}: {}: left out", report.all().sentences, one.problem));
        }
        if (report.all().errors > most) {
            throw Error(
                fmt::format("more than {} have other words than the gold trees: compare the files, or allow more "
                            "with --max-errors",
                            counted(most, "tree")));
        }
    }
    write_output(options.common.json ? json_document(report.json()) : options.evalb ? report.evalb() : report.table());
}

}  // namespace

void add_score_trees(CLI::App& trees) {
    auto options = std::make_shared<ScoreOptions>();
    CLI::App* command = trees.add_subcommand("score", "Compare trees with gold trees, as EVALB does");
    command->footer(
        "Both files have one sentence per line; an empty line is a sentence without a tree, and is skipped. A tree\n"
        "whose words differ from the gold tree's is reported on standard error and left out. Without --rules the\n"
        "rules are those of COLLINS.prm: labels count, ADVP equals PRT, TOP and punctuation do not count.\n\n"
        "Examples:\n"
        "  headscope trees score gold.trees test.trees\n"
        "  headscope trees score --evalb gold.trees test.trees\n"
        "  headscope trees score --rules my.prm --json gold.trees test.trees");
    command->add_option("GOLD", options->gold, "The right trees")->required()->check(not_empty);
    command->add_option("FILE", options->test, "The trees to score; - is standard input")->capture_default_str();
    command->option_defaults()->group("Data");
    command->add_option("--rules", options->rules, "A parameter file of EVALB")
        ->type_name("FILE.prm")
        ->check(not_empty);
    command->add_option("--max-errors", options->max_errors, "Stop if more trees than this have other words than gold")
        ->check(whole_number(0))
        ->default_str("MAX_ERROR + 1");
    CLI::Option* json = options->common.add_json(*command);
    command->add_flag("--evalb", options->evalb, "Print a line for each sentence and EVALB's summaries")
        ->group("Output")
        ->excludes(json);
    command->callback([options] { score(*options); });
}

}  // namespace headscope
