// headscope trees: constituency trees to sequences for training, and back.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/trees/score_trees.h"
#include "io/input_files.h"
#include "options/option_values.h"
#include "support/check.h"
#include "support/counted.h"
#include "text/lines.h"
#include "trees/linearised.h"
#include "trees/tree_reader.h"

namespace headscope {
namespace {

enum class Print : std::uint8_t { Pairs, Words, Tags, Sequences, Trees };
constexpr std::array<const char*, 5> kPrintNames = {"pairs", "words", "tags", "sequences", "trees"};

struct LineariseOptions {
    std::vector<std::string> files = {"-"};
    Terminals terminals = Terminals::Normalised;
    Print print = Print::Pairs;
};

std::string line_of(const Tree& tree, const LineariseOptions& options) {
    switch (options.print) {
        case Print::Pairs: return words_of(tree) + "\t" + linearised(tree, options.terminals);
        case Print::Words: return words_of(tree);
        case Print::Tags: return tags_of(tree);
        case Print::Sequences: return linearised(tree, options.terminals);
        case Print::Trees: break;
    }
    return to_line(tree);
}

void linearise(const LineariseOptions& options) {
    InputFiles inputs;
    inputs.add(options.files);
    inputs.refuse("-");
    std::int64_t only_traces = 0;
    for (const std::string& file : options.files) {
        TreeReader reader(file);
        for (Tree tree; reader.next(tree);) {
            const std::optional<Tree> rest = without_traces(tree);
            only_traces += rest ? 0 : 1;
            write_output(rest ? line_of(*rest, options) + "\n" : "");
        }
    }
    if (only_traces > 0) {
        log_line(fmt::format("headscope: left out {} without words", counted(only_traces, "tree")));
    }
}

struct RestoreOptions {
    std::string input = "-", words, tags;
    Terminals terminals = Terminals::Normalised;
    bool pretty = false;
};

// The next line of a file that has one for each sequence.
std::string line_beside(LineReader& reader, const LineReader& sequences) {
    std::string line;
    if (!reader.next(line)) {
        throw Error(fmt::format("{} has {}, but {} has more: give one for each sequence", reader.name(),
                                counted(reader.number(), "line"), sequences.name()));
    }
    return line;
}

void require_end(LineReader& reader, const LineReader& sequences) {
    if (std::string line; reader.next(line)) {
        throw Error(fmt::format("{} has more lines than {} ({}): give one for each sequence", reader.name(),
                                sequences.name(), sequences.number()));
    }
}

Restored restored_line(const LineReader& reader, const std::string& sequence, const std::vector<std::string>& words,
                       const std::vector<std::string>* tags, Terminals terminals) {
    try {
        return restored(sequence, words, tags, terminals);
    } catch (const Error& error) {
        throw Error(fmt::format("{} line {}: {}", reader.name(), reader.number(), error.what()));
    }
}

void print_repairs(const Repairs& all, std::int64_t repaired, std::int64_t lines) {
    log_line(
        fmt::format("headscope: repaired {} of {}: {} and {} left out, {} and {} added, {} without words and {} "
                    "beside the first",
                    repaired, counted(lines, "sequence"), counted(all.dropped_closings, "closing symbol"),
                    counted(all.dropped_terminals, "terminal"), counted(all.added_closings, "closing symbol"),
                    counted(all.added_words, "word"), counted(all.empty, "constituent"), counted(all.joined, "tree")));
}

void restore(const RestoreOptions& options) {
    InputFiles inputs;
    inputs.add({options.input, options.words, options.tags});
    inputs.refuse("-");
    LineReader sequences(options.input);
    LineReader words(options.words);
    std::optional<LineReader> tags;
    if (!options.tags.empty()) {
        tags.emplace(options.tags);
    }
    Repairs all;
    std::int64_t repaired = 0;
    for (std::string sequence; sequences.next(sequence);) {
        const std::vector<std::string> line = split_at_blanks(line_beside(words, sequences));
        const std::vector<std::string> line_tags =
            tags ? split_at_blanks(line_beside(*tags, sequences)) : std::vector<std::string>();
        if (line.empty()) {
            write_output("\n");  // no sentence, no tree
            continue;
        }
        const Restored result =
            restored_line(sequences, sequence, line, tags ? &line_tags : nullptr, options.terminals);
        all += result.repairs;
        repaired += result.repairs.any() ? 1 : 0;
        write_output(options.pretty ? to_indented(result.tree) : to_line(result.tree) + "\n");
    }
    require_end(words, sequences);
    if (tags) {
        require_end(*tags, sequences);
    }
    print_repairs(all, repaired, static_cast<std::int64_t>(sequences.number()));
}

void add_terminals(CLI::App& command, Terminals& terminals) {
    add_choice(
        command, "--terminals", kTerminalNames, [to = &terminals](std::size_t at) { *to = static_cast<Terminals>(at); },
        "What stands for a word: XX for each, its part-of-speech tag, or the word");
}

void add_linearise(CLI::App& trees) {
    auto options = std::make_shared<LineariseOptions>();
    CLI::App* command = trees.add_subcommand("linearise", "Trees to words and sequences of symbols");
    command->footer(
        "Reads trees as in the Penn Treebank. Removes traces (-NONE-) with the constituents that they leave empty, "
        "and\n"
        "functional tags and indices (NP-SBJ-1 becomes NP). Prints one line for each tree; \"pairs\" is the words, a "
        "TAB\n"
        "and the sequence, as headscope train reads it.\n\n"
        "Examples:\n"
        "  headscope trees linearise treebank.trees > train.tsv\n"
        "  headscope trees linearise --print words treebank.trees\n"
        "  headscope trees linearise --terminals tags --print sequences treebank.trees");
    command->add_option("FILE", options->files, "Trees, plain or compressed; - is standard input")
        ->capture_default_str();
    command->option_defaults()->group("Output");
    add_terminals(*command, options->terminals);
    add_choice(
        *command, "--print", kPrintNames,
        [print = &options->print](std::size_t at) { *print = static_cast<Print>(at); }, "What to print of each tree");
    command->callback([options] { linearise(*options); });
}

void add_restore(CLI::App& trees) {
    auto options = std::make_shared<RestoreOptions>();
    CLI::App* command = trees.add_subcommand("restore", "Sequences of symbols to trees");
    command->footer(
        "Prints one tree for each sequence, whatever a model wrote. The n-th terminal stands for the n-th word. )X "
        "closes\n"
        "the innermost open X with all that is open inside it, and is left out if no X is open. Terminals after the "
        "last\n"
        "word are left out; words without a terminal are added to the end of the outermost constituent. Constituents\n"
        "without words are left out, and TOP is put over several trees. Standard error has the number of repairs.\n\n"
        "Examples:\n"
        "  headscope trees restore --words words.txt sequences.txt > out.trees\n"
        "  headscope trees restore --words words.txt --tags tags.txt --pretty sequences.txt");
    command->add_option("FILE", options->input, "Sequences, one per line; - is standard input")->capture_default_str();
    command->option_defaults()->group("Data");
    command->add_option("--words", options->words, "The words of each sentence, separated by blanks")
        ->type_name("FILE")
        ->check(not_empty)
        ->required();
    command
        ->add_option(
            "--tags", options->tags,
            "Their tags; without them the terminals, if those are tags, or else XX and the tags of punctuation")
        ->type_name("FILE")
        ->check(not_empty);
    add_terminals(*command, options->terminals);
    command->add_flag("--pretty", options->pretty, "Print trees indented, over several lines")->group("Output");
    command->callback([options] { restore(*options); });
}

}  // namespace

void add_trees_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand("trees", "Constituency trees for training parsers")->group("Train");
    command->require_subcommand(1);
    command->footer(
        "docs/parsing.md describes how to train a parser.\n\n"
        "Example:\n  headscope trees linearise treebank.trees > train.tsv");
    add_linearise(*command);
    add_restore(*command);
    add_score_trees(*command);
}

}  // namespace headscope
