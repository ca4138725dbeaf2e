// headscope tokenize: text to pieces and ids, and ids to text.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "answers/tokenized_text.h"
#include "answers/word_json.h"
#include "cli/command.h"
#include "cli/opened_model.h"
#include "infer/decoding_choices.h"
#include "infer/framed_line.h"
#include "io/input_files.h"
#include "model/family.h"
#include "model/model_directory.h"
#include "options/common_options.h"
#include "options/decoding_flags.h"
#include "options/option_values.h"
#include "support/check.h"
#include "text/explain.h"
#include "text/lines.h"
#include "text/tokenizer.h"
#include "text/vocabulary_file.h"

namespace headscope {
namespace {

struct TokenizeOptions {
    CommonOptions common;
    std::string input = "-", text, tokenizer, vocabulary, side = "source";
    bool from_text = false, ids = false, offsets = false, explain = false, decode = false, frame = false;
    DecodingChoices choices;  // languages
};

// Where texts get their pieces from.
struct Pieces {
    std::shared_ptr<const Tokenizer> tokenizer;
    std::optional<ModelDirectory> model = {};
    Languages languages = {};
};

// What stands around a line, which may begin with its language.
struct Surroundings {
    std::string text;
    std::vector<std::int32_t> before, after;
};

Surroundings surroundings_of(const Pieces& pieces, bool is_source, const std::string& line) {
    const ModelConfig& net = pieces.model->config;
    std::vector<std::int32_t> begin(net.frame.bos_id >= 0 ? 1 : 0, net.frame.bos_id);
    if (!traits(net.architecture).reads_source) {
        const bool ends = traits(net.architecture).fills_masks;
        return {line, begin, std::vector<std::int32_t>(ends ? 1 : 0, net.frame.eos_id)};
    }
    const FramedLine framed =
        frame_line(*pieces.model, pieces.languages, is_source ? std::string_view(line) : std::string_view());
    if (is_source) {
        return {std::string(framed.text), framed.frame.source_begin, framed.frame.source_end};
    }
    begin.insert(begin.end(), framed.frame.target_begin.begin(), framed.frame.target_begin.end());
    return {line, begin, {net.frame.eos_id}};
}

// The text without its language, and the pieces with what stands around them.
TokenizedText framed(const Pieces& pieces, bool is_source, const std::string& line) {
    const Surroundings around = surroundings_of(pieces, is_source, line);
    TokenizedText text = tokenized(*pieces.tokenizer, around.text);
    const auto add = [&](const std::vector<std::int32_t>& ids, std::size_t place, std::size_t at) {
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const auto to = static_cast<std::ptrdiff_t>(place + i);
            text.ids.insert(text.ids.begin() + to, ids[i]);
            text.pieces.insert(text.pieces.begin() + to, pieces.tokenizer->piece(ids[i]));
            text.spans.insert(text.spans.begin() + to, {at, at});
        }
    };
    add(around.before, 0, 0);
    add(around.after, text.ids.size(), around.text.size());
    return text;
}

TokenizedText decoded(const Tokenizer& tokenizer, std::string_view line) {
    constexpr std::string_view kBlanks = " \t\r";
    std::vector<std::int32_t> ids;
    for (std::size_t begin = line.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
        const std::string_view word = line.substr(begin, end - begin);
        std::int32_t id = 0;
        const auto [rest, problem] = std::from_chars(word.data(), word.data() + word.size(), id);
        if (problem != std::errc() || rest != word.data() + word.size()) {
            throw Error(fmt::format("\"{}\" is not an id: --decode reads whole numbers separated by blanks", word));
        }
        ids.push_back(id);
        begin = line.find_first_not_of(kBlanks, end);
    }
    return joined(tokenizer, ids);
}

std::string offsets_of(const TokenizedText& text) {
    std::string lines;
    for (std::size_t i = 0; i < text.ids.size(); ++i) {
        lines += fmt::format("{}\t{}\t{}\t{}\n", text.spans[i].begin, text.spans[i].end, text.ids[i], text.pieces[i]);
    }
    return lines + "\n";
}

std::string explanation_of(const Tokenizer& tokenizer, const std::string& text) {
    std::string lines;
    for (const ExplainedWord& word : explain(tokenizer, text)) {
        lines += fmt::format("{} = {}\n", word.word, fmt::join(word.pieces, " "));
        for (const std::string& step : word.steps) {
            lines += "    " + step + "\n";
        }
    }
    return lines + "\n";
}

std::string output_of(const TokenizeOptions& options, const Pieces& pieces, const std::string& line,
                      std::size_t number) {
    const Tokenizer& tokenizer = *pieces.tokenizer;
    if (options.explain) {
        return explanation_of(tokenizer, line);
    }
    const TokenizedText text = options.decode  ? decoded(tokenizer, line)
                               : options.frame ? framed(pieces, options.side == "source", line)
                                               : tokenized(tokenizer, line);
    if (options.common.json) {
        return json_row(pieces_json(tokenizer, text, static_cast<std::int64_t>(number)));
    }
    if (options.offsets) {
        return offsets_of(text);
    }
    return options.decode ? text.text + "\n"
           : options.ids  ? fmt::format("{}\n", fmt::join(text.ids, " "))
                          : fmt::format("{}\n", fmt::join(text.pieces, " "));
}

// The files that hold the tokenizer are inputs.
Pieces open_pieces(const TokenizeOptions& options, InputFiles& inputs) {
    const std::string place = options.tokenizer.empty() ? options.common.model_path() : options.tokenizer;
    inputs.add({place, options.vocabulary});
    inputs.refuse("-");
    if (!options.vocabulary.empty()) {
        return {std::make_shared<Tokenizer>(Tokenizer::load(place, read_vocabulary(options.vocabulary)))};
    }
    if (!options.tokenizer.empty()) {
        return {std::make_shared<Tokenizer>(Tokenizer::load(place))};
    }
    ModelDirectory model = open_with_remarks(place);
    require_text_input(model, "headscope tokenize");
    Pieces pieces{options.side == "target" ? model.target_tokenizer : model.source_tokenizer};
    pieces.languages = options.choices.over(decoding_choices_of(model).over({})).languages;
    pieces.model = std::move(model);
    return pieces;
}

void tokenize(const TokenizeOptions& options) {
    InputFiles inputs;
    inputs.add(options.from_text ? "" : options.input);
    const Pieces pieces = open_pieces(options, inputs);
    const auto output = [&](const std::string& line, std::size_t number, const std::string& place) {
        try {
            return output_of(options, pieces, line, number);
        } catch (const Error& error) {
            throw Error(fmt::format("{}: {}", place, error.what()));
        }
    };
    if (options.from_text) {
        write_output(output(options.text, 1, "--text"));
        return;
    }
    LineReader reader(options.input);
    for (std::string line; reader.next(line);) {
        write_output(output(line, reader.number(), fmt::format("{} line {}", reader.name(), reader.number())));
    }
}

void add_outputs(CLI::App& command, TokenizeOptions& options) {
    CLI::Option* json = options.common.add_json(command);
    command.option_defaults()->group("Output");
    CLI::Option* ids = command.add_flag("--ids", options.ids, "Print ids, not pieces")->excludes(json);
    CLI::Option* offsets =
        command
            .add_flag("--offsets", options.offsets,
                      "Print \"begin TAB end TAB id TAB piece\" for each piece, with its bytes of the text")
            ->excludes(json)
            ->excludes(ids);
    CLI::Option* explain = command.add_flag("--explain", options.explain, "Print how each word is split, step by step")
                               ->excludes(json)
                               ->excludes(ids)
                               ->excludes(offsets);
    CLI::Option* decode =
        command.add_flag("--decode", options.decode, "Read ids and print their text")->excludes(ids)->excludes(explain);
    command
        .add_flag("--frame", options.frame,
                  "Print what the model has around the pieces, too: its language, its end, [CLS] and [SEP]")
        ->excludes(explain)
        ->excludes(decode)
        ->excludes("--tokenizer");
}

}  // namespace

void add_tokenize_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<TokenizeOptions>();
    options->common.open = open_options;
    CLI::App* command = app.add_subcommand("tokenize", "Split text into pieces, or join ids to text")->group("Look");
    command->footer(
        "Prints one line of pieces for each line of text. --offsets and --explain print several, then an empty line.\n"
        "--explain prints the merges of a BPE tokenizer, the likeliest splits of a unigram tokenizer, and the longest\n"
        "matches of a WordPiece tokenizer. docs/tokenizers.md describes them.\n\n"
        "Examples:\n"
        "  headscope tokenize --text 'The weather is nice today.'\n"
        "  headscope tokenize --ids text.en\n"
        "  headscope tokenize --explain --text sleeping\n"
        "  headscope tokenize --ids text.en | headscope tokenize --decode\n"
        "  headscope tokenize --offsets --side target --model runs/my-model test.de\n"
        "  headscope tokenize --frame --text 'The weather is nice today.'\n"
        "  headscope tokenize --json --tokenizer runs/my-model/sentencepiece.model text.en");
    CLI::Option* file = command
                            ->add_option("FILE", options->input,
                                         "UTF-8 text, one sentence per line, may be compressed; - is standard input")
                            ->capture_default_str();
    command->option_defaults()->group("Data");
    command->add_option("--text", options->text, "The text, instead of a file")
        ->excludes(file)
        ->each([flag = &options->from_text](const std::string&) { *flag = true; });
    CLI::Option* model = options->common.add_model(*command);
    command->option_defaults()->group("Model");
    CLI::Option* side = command->add_option("--side", options->side, "The model's tokenizer of this language")
                            ->check(CLI::IsMember({"source", "target"}))
                            ->capture_default_str();
    CLI::Option* tokenizer = command
                                 ->add_option("--tokenizer", options->tokenizer,
                                              "A SentencePiece model, a WordPiece vocabulary or a tokenizer.json")
                                 ->type_name("FILE")
                                 ->check(not_empty)
                                 ->excludes(model)
                                 ->excludes(side);
    command
        ->add_option("--vocabulary", options->vocabulary, "The ids of its pieces: vocab.json, vocab.yml, dict.txt, ...")
        ->type_name("FILE")
        ->check(not_empty)
        ->needs(tokenizer);
    add_decoding_flags(*command, options->choices, {"source_language", "target_language", "task_prefix"});
    add_outputs(*command, *options);
    command->callback([options] { tokenize(*options); });
}

}  // namespace headscope
