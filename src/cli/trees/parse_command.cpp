// headscope parse: the constituency tree of a sentence, by a model that was trained on linearised trees.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "engine/model_device.h"
#include "figures/parse_tree_drawing.h"
#include "infer/translator.h"
#include "io/atomic_file.h"
#include "io/input_files.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "paint/png.h"
#include "paint/svg.h"
#include "support/check.h"
#include "trees/linearised.h"
#include "trees/penn_words.h"
#include "trees/tree_vocabulary.h"

namespace headscope {
namespace {

struct ParseOptions {
    CommonOptions common;
    std::string text, output;
    bool tokens = false, pretty = false;
};

// The paper's search for parsing (6.3).
TranslationOptions paper_search() {
    TranslationOptions options;
    options.search.beam = 21;
    options.search.length_penalty = 0.3;
    options.search.max_extra = kExtraSymbols;
    options.split_longer_than = 0;
    return options;
}

Terminals terminals_of(const Translator& translator) {
    if (const std::optional<Terminals> terminals = terminals_in(*translator.model().target_tokenizer)) {
        return *terminals;
    }
    throw Error(fmt::format("'{}' does not write trees: train a model on headscope trees linearise (docs/parsing.md)",
                            translator.model().path));
}

Tree parsed(const ParseOptions& options, const std::vector<std::string>& words) {
    const CommonOptions& common = options.common;
    ModelDevice device(common.device(), common.precision, {common.model_path()}, common.open,
                       [](const std::string& message) { log_line("headscope: " + message); });
    device.load();
    Restored result;
    device.run([&](Backend&, const Translator& translator) {
        const Terminals terminals = terminals_of(translator);
        TranslationOptions search = paper_search();
        search.search = translator.decoding_choices().over(search.search);
        search.compute = device.arithmetic().compute;
        search.search.n_best = search.search.beam;
        std::vector<std::string> sequences;
        for (Translation& one : translator.translate_line(fmt::format("{}", fmt::join(words, " ")), search).n_best) {
            sequences.push_back(std::move(one.text));
        }
        result = best_restored(sequences, words, nullptr, terminals);
    });
    if (result.repairs.any()) {
        log_line("headscope: the model wrote a malformed tree, which was repaired (headscope trees restore --help)");
    }
    return result.tree;
}

void write_drawing(const Tree& tree, const std::string& path) {
    const Drawing drawing = draw_parse_tree(tree);
    atomic_write_file(path, path.ends_with(".svg") ? to_svg(drawing) : to_png(rasterise(drawing, 2.0)));
}

void parse(const ParseOptions& options) {
    if (!options.output.empty() && !options.output.ends_with(".svg") && !options.output.ends_with(".png")) {
        throw Error(fmt::format("unknown format '{}': use .svg or .png", options.output));
    }
    InputFiles inputs(options.common.open.settings);
    inputs.add(options.common.model_path());
    inputs.refuse(options.output);
    std::vector<std::string> words = options.tokens ? split_at_blanks(options.text) : penn_words(options.text);
    std::transform(words.begin(), words.end(), words.begin(), without_brackets);  // penn_words() has none
    if (words.empty()) {
        throw Error("TEXT is empty");
    }
    const Tree tree = parsed(options, words);
    if (!options.output.empty()) {
        write_drawing(tree, options.output);
    } else {
        write_output(options.pretty ? to_indented(tree) : to_line(tree) + "\n");
    }
}

}  // namespace

void add_parse_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<ParseOptions>();
    options->common.open = open_options;
    CLI::App* command = app.add_subcommand("parse", "Print or draw the constituency tree of a sentence")->group("Look");
    command->footer(
        "Needs a model trained on linearised trees; docs/parsing.md shows how. The search is the paper's (6.3):\n"
        "beam 21, length penalty 0.3, 300 symbols more than the source has pieces, unless the model's decoding.json\n"
        "says otherwise. Of the sequences found, the best that is a tree of these words is taken, or else the best,\n"
        "repaired.\n"
        "For whole files use headscope translate and headscope trees restore.\n\n"
        "Examples:\n"
        "  headscope parse --model runs/parser 'The cat sleeps.'\n"
        "  headscope parse --model runs/parser --pretty --tokens 'The cat sleeps .'\n"
        "  headscope parse --model runs/parser -o out/tree.svg 'The cat sleeps.'");
    command->option_defaults()->group("Data");
    command->add_option("TEXT", options->text, "One sentence; punctuation and n't, 's, ... become words of their own")
        ->required();
    command->add_flag("--tokens", options->tokens,
                      "Words are already separated by blanks; ( and ) in them become -LRB- and -RRB-");
    options->common.add_model(*command)->required();
    options->common.add_device(*command);
    options->common.add_precision(*command);
    command->option_defaults()->group("Output");
    CLI::Option* pretty = command->add_flag("--pretty", options->pretty, "Print the tree indented, over several lines");
    command->add_option("-o,--output", options->output, "Draw the tree into an .svg or .png file instead")
        ->check(not_empty)
        ->excludes(pretty);
    command->callback([options] { parse(*options); });
}

}  // namespace headscope
