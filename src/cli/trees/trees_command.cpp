// headscope trees: constituency trees to sequences for training, and back.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
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
#include "support/usage_error.h"
#include "text/lines.h"
#include "trees/linearised.h"
#include "trees/tree_reader.h"

namespace headscope {
namespace {

enum class Print : std::uint8_t { Pairs, Words, Tags, Sequences, Trees };
constexpr std::array<const char*, 5> kPrintNames = {"pairs", "words", "tags", "sequences", "trees"};

struct LineariseOptions {
    CommonOptions common;
    std::vector<std::string> files = {"-"};
    Terminals terminals = Terminals::Normalised;
    Print print = Print::Pairs;
};

std::string line_of(const Tree& tree, const LineariseOptions& options) {
    switch (options.print) {
        case Print::Pairs: return words_of(tree) + "\t" + linearised(tree, options.terminals) + "\n";
        case Print::Words: return words_of(tree) + "\n";
        case Print::Tags: return tags_of(tree) + "\n";
        case Print::Sequences: return linearised(tree, options.terminals) + "\n";
        case Print::Trees: break;
    }
    return to_line(tree) + "\n";
}

// `number`: of the tree in its file, from 1.
std::string json_of(const Tree& tree, const std::string& file, std::int64_t number, Terminals terminals) {
    return json_row({{"file", file},
                     {"number", number},
                     {"words", words_of(tree)},
                     {"tags", tags_of(tree)},
                     {"sequence", linearised(tree, terminals)},
                     {"tree", to_line(tree)}});
}

void linearise(const LineariseOptions& options) {
    InputFiles inputs;
    inputs.add(options.files);
    inputs.refuse("-");
    std::int64_t only_traces = 0;
    std::vector<std::string> broken;
    for (const std::string& file : options.files) {
        TreeReader reader(file);
        std::int64_t number = 0;
        for (Tree tree; reader.next(tree);) {
            const std::optional<Tree> rest = without_traces(tree);
            ++number;
            only_traces += rest ? 0 : 1;
            if (rest) {
                write_output(options.common.json ? json_of(*rest, file, number, options.terminals)
                                                 : line_of(*rest, options));
            }
        }
        broken.insert(broken.end(), reader.problems().begin(), reader.problems().end());
    }
    if (only_traces > 0) {
        log_line(fmt::format("headscope: left out {} without words", counted(only_traces, "tree")));
    }
    if (!broken.empty()) {
        throw Error(broken.size() == 1 ? broken.front()
                                       : fmt::format("{} are broken; the others were written:\n    {}",
                                                     counted(broken.size(), "tree"), fmt::join(broken, "\n    ")));
    }
}

void add_linearise(CLI::App& trees) {
    auto options = std::make_shared<LineariseOptions>();
    CLI::App* command = trees.add_subcommand("linearise", "Trees to words and sequences of symbols");
    command->footer(
        "Reads trees as in the Penn Treebank. Removes traces (-NONE-) with the constituents that they leave empty,\n"
        "and functional tags and indices (NP-SBJ-1 becomes NP). Prints one line for each tree; \"pairs\" is the\n"
        "words, a TAB and the sequence, as headscope train reads it.\n\n"
        "Examples:\n"
        "  headscope trees linearise treebank.trees > train.tsv\n"
        "  headscope trees linearise --print words treebank.trees\n"
        "  headscope trees linearise --terminals tags --print sequences treebank.trees\n"
        "  headscope trees linearise --terminals levels treebank.trees > train.tsv");
    command->add_option("FILE", options->files, "Trees, plain or compressed; - is standard input")
        ->capture_default_str();
    command->option_defaults()->group("Output");
    const CLI::Option* terminals = add_terminals_option(*command, options->terminals);
    CLI::Option* print = add_choice(
        *command, "--print", kPrintNames,
        [print = &options->print](std::size_t at) { *print = static_cast<Print>(at); }, "What to print of each tree");
    options->common.add_json(*command)->excludes(print);
    command->callback([options, terminals] {
        if (terminals->count() > 0 && options->print != Print::Pairs && options->print != Print::Sequences) {
            throw UsageError("--terminals is only for --print pairs and sequences");
        }
        linearise(*options);
    });
}

}  // namespace

CLI::Option* add_terminals_option(CLI::App& command, Terminals& terminals) {
    return add_choice(
        command, "--terminals", kTerminalNames, [to = &terminals](std::size_t at) { *to = static_cast<Terminals>(at); },
        "What stands for a word: XX (the tag if it has no letters, as of punctuation), its part-of-speech tag, the "
        "word, or its tag with its place in the tree, without brackets (levels)");
}

void add_trees_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand("trees", "Constituency trees for training parsers")->group("Train");
    command->require_subcommand(1);
    command->footer(
        "docs/parsing.md describes how to train a parser.\n\n"
        "Example:\n  headscope trees linearise treebank.trees > train.tsv");
    add_linearise(*command);
    add_restore_trees(*command);
    add_score_trees(*command);
}

}  // namespace headscope
