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
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "cli/command.h"
#include "cli/opened_engine.h"
#include "engine/text_translator.h"
#include "eval/parsed_trees.h"
#include "figures/parse_tree_drawing.h"
#include "infer/loaded_model.h"
#include "io/atomic_file.h"
#include "io/input_files.h"
#include "options/common_options.h"
#include "options/decoding_flags.h"
#include "options/option_values.h"
#include "paint/picture_file.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/usage_error.h"
#include "support/utf8.h"
#include "text/lines.h"
#include "text/normalised.h"
#include "trees/linearised.h"
#include "trees/penn_words.h"

namespace headscope {
namespace {

struct ParseOptions {
    CommonOptions common;
    std::string text, file, tags, output;
    DecodingChoices choices;  // the beam
    bool tokens = false, pretty = false;
};

using WordList = std::vector<std::string>;

// Hypotheses that cannot become a tree of the words are left out.
DecodingOptions search_of(const ParseOptions& options, const OpenModel& model) {
    DecodingOptions search = paper_tree_search();
    search.search = options.choices.over(model.choices().over(search.search));
    keep_to_trees(search, model.directory(), require_terminals(model.directory()));
    return search;
}

// Told of a sentence, by its place in the list, that has no tree.
using Reject = std::function<void(std::size_t sentence, const std::string& problem)>;

// The trees of some sentences, given their tags or none; none of those without words or that the model cannot parse.
std::vector<std::optional<Restored>> parsed(OpenedEngine& opened, const DecodingOptions& search,
                                            const std::vector<WordList>& sentences, const std::vector<WordList>* tags,
                                            const Reject& reject) {
    const Terminals terminals = require_terminals(opened.directory());
    std::vector<std::string> lines;
    for (const WordList& words : sentences) {
        lines.push_back(fmt::format("{}", fmt::join(words, " ")));
    }
    std::vector<std::optional<Restored>> trees;
    for (const TextResult& sentence : TextTranslator(opened.engine, opened.model).translate(numbered(lines), search)) {
        const std::size_t at = trees.size();
        trees.emplace_back();
        if (sentences[at].empty()) {
            continue;
        }
        if (!sentence.problem.empty()) {
            reject(at, sentence.problem);
            continue;
        }
        trees.back() = found_tree(sentence, sentences[at], tags == nullptr ? nullptr : &(*tags)[at], terminals);
    }
    return trees;
}

WordList words_of(const ParseOptions& options, const std::string& text) {
    WordList words = is_empty_text(text) ? WordList() : options.tokens ? split_at_blanks(text) : penn_words(text);
    std::transform(words.begin(), words.end(), words.begin(), without_brackets);  // penn_words() has none
    return words;
}

// Of a line of text, which may have no tree.
std::string printed(const ParseOptions& options, std::size_t line, const std::optional<Restored>& found) {
    if (options.common.json) {
        nlohmann::ordered_json json{{"line", line}, {"tree", nullptr}};
        if (found) {
            json["tree"] = to_line(found->tree);
            json["repaired"] = found->repairs.any();
        }
        return json_row(json);
    }
    return !found ? "\n" : options.pretty ? to_indented(found->tree) : to_line(found->tree) + "\n";
}

void write_drawing(const Tree& tree, const std::string& path) {
    atomic_write_file(path, require_picture_name(path).written(draw_parse_tree(tree), kPictureScale));
}

void parse_text(const ParseOptions& options) {
    const WordList words = words_of(options, options.text);
    if (words.empty()) {
        throw UsageError("TEXT is empty");
    }
    OpenedEngine opened(options.common, {options.common.model_path()});
    require_architecture(opened.directory(), Architecture::EncoderDecoder);
    const Reject fail = [](std::size_t, const std::string& problem) { throw Error(problem); };
    const Restored result = parsed(opened, search_of(options, *opened.model), {words}, nullptr, fail).front().value();
    if (result.repairs.any()) {
        log_line("headscope: the model wrote a malformed tree, which was repaired (headscope trees restore --help)");
    }
    if (!options.output.empty()) {
        write_drawing(result.tree, options.output);
    } else {
        write_output(printed(options, 1, result));
    }
}

// Reports the lines of a file that have no tree.
class Rejected {
public:
    explicit Rejected(std::string name) : name_(std::move(name)) {}

    void blank(std::size_t line) { report(line, "there are no words"); }
    // A line with words, which is an error.
    void failed(std::size_t line, const std::string& problem) {
        failed_ = true;
        report(line, problem);
    }
    // Error if a line has failed.
    void finish(std::size_t lines) const {
        const std::string summary = fmt::format("{} of {} have no tree", count_, counted(lines, "line"));
        if (failed_) {
            throw Error(summary);
        }
        if (count_ > 0) {
            log_line("headscope: " + summary);
        }
    }

private:
    void report(std::size_t line, const std::string& problem) {
        ++count_;
        log_error(fmt::format("headscope: {} line {}: {}; its line in the output is empty", name_, line, problem));
    }

    std::string name_;
    std::size_t count_ = 0;
    bool failed_ = false;
};

// The words of a line, and its tags if there is a file of them. Empty lines, and those that are not UTF-8, have none.
class SentenceFile {
public:
    explicit SentenceFile(const ParseOptions& options)
        : options_(options), text_(options.file), rejected_(text_.name()) {
        if (!options.tags.empty()) {
            tag_lines_.emplace(options.tags);
        }
    }

    // False at the end.
    bool next(WordList& words, WordList& tags) {
        std::string line;
        if (!text_.next_bytes(line)) {
            check_end();
            return false;
        }
        const bool is_text = !first_invalid_utf8(line);
        words = is_text ? words_of(options_, line) : WordList();
        if (!is_text) {
            rejected_.failed(text_.number(), "it is not UTF-8: convert the file");
        } else if (words.empty()) {
            rejected_.blank(text_.number());
        }
        if (tag_lines_) {
            tags = tags_of(words);
        }
        return true;
    }

    bool has_tags() const { return tag_lines_.has_value(); }
    std::size_t number() const { return text_.number(); }
    Rejected& rejected() { return rejected_; }

private:
    WordList tags_of(const WordList& words) {
        std::string line;
        if (!tag_lines_->next(line)) {
            throw Error(fmt::format("{} ends before {}: give a line of tags for each sentence", tag_lines_->name(),
                                    text_.name()));
        }
        WordList tags = split_at_blanks(line);
        if (tags.size() != words.size() && !words.empty()) {
            throw Error(fmt::format("{} line {}: expected {}, one for each word, found {}", tag_lines_->name(),
                                    tag_lines_->number(), counted(words.size(), "tag"), tags.size()));
        }
        return tags;
    }
    void check_end() {
        if (std::string line; tag_lines_ && tag_lines_->next(line)) {
            throw Error(fmt::format("{} has more lines than {} ({}): give a line of tags for each sentence",
                                    tag_lines_->name(), text_.name(), text_.number()));
        }
    }

    const ParseOptions& options_;
    LineReader text_;
    Rejected rejected_;
    std::optional<LineReader> tag_lines_;
};

// A tree a line; an empty line for a sentence without one, which is reported, and at the end an error if it has words.
void parse_file(const ParseOptions& options) {
    constexpr std::size_t kAtOnce = 256;
    SentenceFile text(options);
    OpenedEngine opened(options.common, {options.common.model_path()});
    require_architecture(opened.directory(), Architecture::EncoderDecoder);
    const DecodingOptions search = search_of(options, *opened.model);
    std::size_t repaired = 0;
    for (bool more = true; more;) {
        std::vector<WordList> sentences;
        std::vector<WordList> tags;
        const std::size_t first = text.number();
        WordList words;
        WordList tags_of_words;
        while (sentences.size() < kAtOnce && (more = text.next(words, tags_of_words))) {
            sentences.push_back(words);
            tags.push_back(tags_of_words);
        }
        const Reject reject_at = [&](std::size_t at, const std::string& problem) {
            text.rejected().failed(first + at + 1, problem);
        };
        std::size_t line = first;
        for (const std::optional<Restored>& one :
             parsed(opened, search, sentences, text.has_tags() ? &tags : nullptr, reject_at)) {
            repaired += one && one->repairs.any() ? 1 : 0;
            write_output(printed(options, ++line, one));
        }
    }
    if (repaired > 0) {
        log_line(fmt::format("headscope: repaired {} of {}", repaired, counted(text.number(), "tree")));
    }
    text.rejected().finish(text.number());
}

void parse(const ParseOptions& options) {
    if (!options.output.empty()) {
        require_picture_name(options.output);
    }
    if (options.text.empty() == options.file.empty()) {
        throw UsageError(options.file.empty() ? "TEXT is empty" : "TEXT and --file exclude each other");
    }
    InputFiles inputs(options.common.open.settings);
    inputs.add(options.common.model_path());
    inputs.refuse(options.output);
    options.file.empty() ? parse_text(options) : parse_file(options);
}

}  // namespace

void add_parse_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<ParseOptions>();
    options->common.open = open_options;
    options->common.bundled_model = kTreeModel;
    CLI::App* command = app.add_subcommand("parse", "Print or draw the constituency tree of a sentence")->group("Look");
    command->footer(
        "The default model is the bundled one, a small parser of English (assets/models/en-trees/README.md);\n"
        "docs/parsing.md shows how to train others on treebanks. The search is the paper's (6.3): beam 21, length\n"
        "penalty 0.3, 300 symbols more than the source has pieces, unless the model's decoding.json says otherwise.\n"
        "It leaves out sequences that cannot become a tree of the words.\n\n"
        "Examples:\n"
        "  headscope parse 'The cat sleeps.'\n"
        "  headscope parse --pretty --tokens 'The cat sleeps .'\n"
        "  headscope parse --json 'The cat sleeps.'\n"
        "  headscope parse -o out/tree.svg 'The cat sleeps.'\n"
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
    options->common.add_model(*command);
    options->common.add_device(*command);
    options->common.add_precision(*command);
    command->option_defaults()->group("Search");
    add_decoding_flags(*command, options->choices, {"beam"});
    command->get_option("--beam")->default_str("the model's decoding.json, or 21");
    command->option_defaults()->group("Output");
    CLI::Option* pretty = command->add_flag("--pretty", options->pretty, "Print the tree indented, over several lines");
    options->common.add_json(*command)->excludes(pretty);
    command->option_defaults()->group("Output");
    command->add_option("-o,--output", options->output, "Draw the tree into an " + picture_names() + " file instead")
        ->check(not_empty)
        ->excludes(pretty)
        ->excludes(file)
        ->excludes("--json");
    command->callback([options] { parse(*options); });
}

}  // namespace headscope
