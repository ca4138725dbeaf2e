// headscope parse: the constituency tree of a sentence, by a model that was trained on linearised trees.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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
#include "support/counted.h"
#include "text/lines.h"
#include "trees/linearised.h"
#include "trees/penn_words.h"
#include "trees/tree_rules.h"
#include "trees/tree_vocabulary.h"

namespace headscope {
namespace {

struct ParseOptions {
    CommonOptions common;
    std::string text, file, tags, output;
    std::optional<int> beam;
    bool tokens = false, pretty = false;
};

using WordList = std::vector<std::string>;

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

// Hypotheses that cannot become a tree of the words are left out.
TranslationOptions search_of(const ParseOptions& options, const Translator& translator, Compute compute) {
    TranslationOptions search = paper_search();
    search.search = translator.decoding_choices().over(search.search);
    search.search.beam = options.beam.value_or(search.search.beam);
    search.search.n_best = search.search.beam;
    search.compute = compute;
    search.rule_for = [rules = TreeRules(*translator.model().target_tokenizer)](std::string_view text) {
        const auto words = static_cast<std::int64_t>(split_at_blanks(std::string(text)).size());
        return
            [&rules, words](const std::vector<std::int32_t>& written) { return rules.forbidden_after(written, words); };
    };
    return search;
}

// The trees of some sentences, given their tags or none. Error, naming the sentence by `name_of`, for one that the
// model cannot parse.
std::vector<Restored> parsed(const Translator& translator, const TranslationOptions& search,
                             const std::vector<WordList>& sentences, const std::vector<WordList>* tags,
                             const std::function<std::string(std::size_t)>& name_of) {
    const Terminals terminals = terminals_of(translator);
    std::vector<std::string> lines;
    for (const WordList& words : sentences) {
        lines.push_back(fmt::format("{}", fmt::join(words, " ")));
    }
    std::vector<Restored> trees;
    for (const TranslatedSentence& sentence : translator.translate(lines, search)) {
        const std::size_t at = trees.size();
        if (!sentence.problem.empty()) {
            throw Error(name_of(at) + sentence.problem);
        }
        std::vector<std::string> sequences;
        for (const Translation& one : sentence.n_best) {
            sequences.push_back(one.text);
        }
        trees.push_back(best_restored(sequences, sentences[at], tags == nullptr ? nullptr : &(*tags)[at], terminals));
    }
    return trees;
}

ModelDevice device_of(const ParseOptions& options) {
    const CommonOptions& common = options.common;
    return {common.device(), common.precision, {common.model_path()}, common.open, [](const std::string& message) {
                log_line("headscope: " + message);
            }};
}

WordList words_of(const ParseOptions& options, const std::string& text) {
    WordList words = options.tokens ? split_at_blanks(text) : penn_words(text);
    std::transform(words.begin(), words.end(), words.begin(), without_brackets);  // penn_words() has none
    return words;
}

std::string printed(const ParseOptions& options, const Tree& tree) {
    return options.pretty ? to_indented(tree) : to_line(tree) + "\n";
}

void write_drawing(const Tree& tree, const std::string& path) {
    const Drawing drawing = draw_parse_tree(tree);
    atomic_write_file(path, path.ends_with(".svg") ? to_svg(drawing) : to_png(rasterise(drawing, 2.0)));
}

void parse_text(const ParseOptions& options) {
    const WordList words = words_of(options, options.text);
    if (words.empty()) {
        throw Error("TEXT is empty");
    }
    ModelDevice device = device_of(options);
    device.load();
    Restored result;
    device.run([&](Backend&, const Translator& translator) {
        const TranslationOptions search = search_of(options, translator, device.arithmetic().compute);
        result = parsed(translator, search, {words}, nullptr, [](std::size_t) { return std::string(); }).front();
    });
    if (result.repairs.any()) {
        log_line("headscope: the model wrote a malformed tree, which was repaired (headscope trees restore --help)");
    }
    if (!options.output.empty()) {
        write_drawing(result.tree, options.output);
    } else {
        write_output(printed(options, result.tree));
    }
}

// A sentence a line; an empty line for an empty one.
void parse_file(const ParseOptions& options) {
    constexpr std::size_t kAtOnce = 256;
    LineReader text(options.file);
    std::optional<LineReader> tag_lines;
    if (!options.tags.empty()) {
        tag_lines.emplace(options.tags);
    }
    ModelDevice device = device_of(options);
    device.load();
    std::size_t repaired = 0;
    for (bool more = true; more;) {
        std::vector<WordList> sentences;
        std::vector<WordList> tags;
        const std::size_t first = text.number();
        std::string line;
        while (sentences.size() < kAtOnce && (more = text.next(line))) {
            sentences.push_back(words_of(options, line));
            if (tag_lines) {
                if (!tag_lines->next(line)) {
                    throw Error(fmt::format("{} ends before {}: give a line of tags for each sentence",
                                            tag_lines->name(), text.name()));
                }
                tags.push_back(split_at_blanks(line));
                if (tags.back().size() != sentences.back().size()) {
                    throw Error(fmt::format("{} line {}: expected {}, one for each word, found {}", tag_lines->name(),
                                            tag_lines->number(), counted(sentences.back().size(), "tag"),
                                            tags.back().size()));
                }
            }
        }
        const auto name_of = [&](std::size_t at) { return fmt::format("{} line {}: ", text.name(), first + at + 1); };
        if (const auto empty = std::find(sentences.begin(), sentences.end(), WordList()); empty != sentences.end()) {
            throw Error(name_of(static_cast<std::size_t>(empty - sentences.begin())) + "there are no words");
        }
        device.run([&](Backend&, const Translator& translator) {
            const TranslationOptions search = search_of(options, translator, device.arithmetic().compute);
            for (const Restored& one : parsed(translator, search, sentences, tag_lines ? &tags : nullptr, name_of)) {
                repaired += one.repairs.any() ? 1 : 0;
                write_output(printed(options, one.tree));
            }
        });
    }
    if (std::string line; tag_lines && tag_lines->next(line)) {
        throw Error(fmt::format("{} has more lines than {} ({}): give a line of tags for each sentence",
                                tag_lines->name(), text.name(), text.number()));
    }
    if (repaired > 0) {
        log_line(fmt::format("headscope: repaired {} of {}", repaired, counted(text.number(), "tree")));
    }
}

void parse(const ParseOptions& options) {
    if (!options.output.empty() && !options.output.ends_with(".svg") && !options.output.ends_with(".png")) {
        throw Error(fmt::format("unknown format '{}': use .svg or .png", options.output));
    }
    if (options.text.empty() == options.file.empty()) {
        throw Error(options.file.empty() ? "TEXT is empty" : "TEXT and --file exclude each other");
    }
    InputFiles inputs(options.common.open.settings);
    if (options.common.models.empty() && options.common.open.settings.get("HEADSCOPE_MODEL").empty()) {
        throw Error("no parser comes with headscope: give --model or set HEADSCOPE_MODEL (docs/parsing.md trains one)");
    }
    inputs.add(options.common.model_path());
    inputs.refuse(options.output);
    options.file.empty() ? parse_text(options) : parse_file(options);
}

}  // namespace

void add_parse_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<ParseOptions>();
    options->common.open = open_options;
    CLI::App* command = app.add_subcommand("parse", "Print or draw the constituency tree of a sentence")->group("Look");
    command->footer(
        "Needs a model trained on linearised trees; docs/parsing.md shows how. The search is the paper's (6.3):\n"
        "beam 21, length penalty 0.3, 300 symbols more than the source has pieces, unless the model's decoding.json\n"
        "says otherwise. It leaves out sequences that cannot become a tree of the words.\n\n"
        "Examples:\n"
        "  headscope parse --model runs/parser 'The cat sleeps.'\n"
        "  headscope parse --model runs/parser --pretty --tokens 'The cat sleeps .'\n"
        "  headscope parse --model runs/parser -o out/tree.svg 'The cat sleeps.'\n"
        "  headscope parse --model runs/parser --tokens --file words.txt > out.trees");
    command->option_defaults()->group("Data");
    command->add_option("TEXT", options->text, "One sentence; punctuation and n't, 's, ... become words of their own");
    CLI::Option* file =
        command->add_option("--file", options->file, "Sentences, one per line; - is standard input")->type_name("FILE");
    command->add_option("--tags", options->tags, "The tags of each sentence's words, one line each, for the trees")
        ->type_name("FILE")
        ->needs(file);
    command->add_flag("--tokens", options->tokens,
                      "Words are already separated by blanks; ( and ) in them become -LRB- and -RRB-");
    options->common.add_model(*command)->default_str("HEADSCOPE_MODEL");
    options->common.add_device(*command);
    options->common.add_precision(*command);
    command->option_defaults()->group("Search");
    command->add_option("--beam", options->beam, "Hypotheses kept (default: the model's decoding.json, or 21)")
        ->check(whole_number(1, SearchOptions::kMaxBeam));
    command->option_defaults()->group("Output");
    CLI::Option* pretty = command->add_flag("--pretty", options->pretty, "Print the tree indented, over several lines");
    command->add_option("-o,--output", options->output, "Draw the tree into an .svg or .png file instead")
        ->check(not_empty)
        ->excludes(pretty)
        ->excludes(file);
    command->callback([options] { parse(*options); });
}

}  // namespace headscope
