// headscope embed: lines, words and pieces as vectors, and which of them are alike.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/look/vector_outputs.h"
#include "cli/opened_engine.h"
#include "engine/in_order.h"
#include "infer/model_name.h"
#include "io/input_files.h"
#include "options/common_options.h"
#include "options/decoding_flags.h"
#include "options/option_values.h"
#include "options/text_options.h"
#include "paint/picture_file.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/usage_error.h"
#include "text/lines.h"

namespace headscope {
namespace {

constexpr std::string_view kArrayEnding = ".npy";

struct EmbedOptions {
    CommonOptions common;
    DecodingChoices choices;  // languages and a task's prefix
    std::string input = "-", output, among;
    VectorOptions vectors;
    int nearest = 0;
    bool cosine = false;
    std::int64_t batch_tokens = 1024;

    bool writes_array() const { return output.ends_with(kArrayEnding); }
    bool writes_picture() const { return picture_format_of(output) != nullptr; }
};

// Lines of a file, and their vectors.
class LineVectors {
public:
    LineVectors(OpenedEngine& opened, const VectorOptions& options, std::int64_t batch_tokens)
        : opened_(opened), options_(options), batch_tokens_(batch_tokens) {}

    // Takes the lines in order. A line without vectors is reported, and counted.
    template <class Take>
    void read(LineReader& reader, const Take& take) {
        const auto next = [&] { return next_part(reader); };
        const auto request_of = [&](const Part& part) { return EmbedRequest{part.texts, options_, batch_tokens_}; };
        ask_in_order(
            opened_.engine, opened_.model, next, request_of, [&](const Part& part, std::vector<TextVectors> found) {
                for (std::size_t i = 0; i < found.size(); ++i) {
                    const auto number = static_cast<std::int64_t>(part.first + i);
                    if (!found[i].problem.empty()) {
                        ++problems_;
                        log_error(fmt::format("headscope: {} line {}: {}", reader.name(), number, found[i].problem));
                    }
                    take(EmbeddedLine{number, part.texts[i], std::move(found[i])});
                }
                lines_ += part.texts.size();
            });
    }

    void require_no_problem() const {
        if (problems_ > 0) {
            throw Error(fmt::format("{} of {} no vector", problems_, counted(lines_, "line has", "lines have")));
        }
    }

private:
    struct Part {
        std::size_t first = 1;  // the number of its first line
        std::vector<std::string> texts;
    };
    std::optional<Part> next_part(LineReader& reader) const {
        Part part{reader.number() + 1, {}};
        std::string line;
        for (PartSize size(batch_tokens_); !size.full() && reader.next_bytes(line);) {
            size.add(pieces_of(line));
            part.texts.push_back(std::move(line));
        }
        return part.texts.empty() ? std::nullopt : std::optional(std::move(part));
    }

    OpenedEngine& opened_;
    const VectorOptions options_;
    const std::int64_t batch_tokens_;
    std::size_t lines_ = 0, problems_ = 0;
};

std::string title_of(const EmbedOptions& options, const ModelDirectory& model) {
    const int layer = options.vectors.layer.value_or(last_vector_layer(model.config));
    return fmt::format("{} {} of {}",
                       options.vectors.unit == VectorUnit::Line   ? "Lines"
                       : options.vectors.unit == VectorUnit::Word ? "Words"
                                                                  : "Pieces",
                       layer == 0 ? "as embeddings" : fmt::format("after layer {}", layer), name_of_model(model.path));
}

void check_outputs(const EmbedOptions& options) {
    const bool compares = options.nearest > 0 || options.cosine;
    if (compares && (options.writes_array() || options.writes_picture())) {
        throw UsageError(fmt::format("--nearest and --cosine write text or JSON, not {}", options.output));
    }
    if (options.input == "-" && options.among == "-") {
        throw UsageError("FILE and --among are both standard input, which can be read once: give one of them a name");
    }
    if (options.vectors.unit == VectorUnit::Piece && options.vectors.pooling != Pooling::Mean) {
        throw UsageError("--pooling is for lines and words: a piece is one vector");
    }
}

void embed(EmbedOptions options) {
    check_outputs(options);
    InputFiles inputs(options.common.open.settings);
    inputs.add({options.input, options.among});
    const std::string path = options.common.model_path();
    inputs.add(path);
    inputs.refuse("-");
    const bool prints = !options.writes_array() && !options.writes_picture();
    if (!options.output.empty()) {
        inputs.refuse(options.output);
        if (prints) {
            redirect_output(options.output);
        }
    }
    LineReader reader(options.input);
    std::optional<LineReader> among;
    if (!options.among.empty()) {
        among.emplace(options.among);
    }
    OpenedEngine opened(options.common, {path}, log_of_command);
    const ModelDirectory& model = opened.directory();
    options.vectors.languages = opened.model->search_options(options.choices).languages;
    check_vector_options(options.vectors, model.config);
    LineVectors lines(opened, options.vectors, options.batch_tokens);
    const VectorFormat format{options.vectors.unit, options.common.json};
    const auto others = [&](const auto& take) { lines.read(*among, take); };
    const std::unique_ptr<VectorOutput> output =
        options.writes_array()     ? array_of_vectors(format, options.output, model.config.d_model)
        : options.writes_picture() ? picture_of_vectors(format, options.output, title_of(options, model))
        : options.cosine           ? table_of_cosines(format)
        : among                    ? nearest_of_others(format, options.nearest, among->name(), others)
                                   : printed_vectors(format);
    lines.read(reader, [&](EmbeddedLine line) { output->add(std::move(line)); });
    if (reader.number() == 0) {
        throw Error(reader.name() + " has no line");
    }
    output->finish();
    opened.tell_idle();
    lines.require_no_problem();
}

constexpr const char* kAboutEmbed =
    "Prints the numbers of one vector on each line, after \"line TAB word TAB\" for words and pieces. -o FILE.npy "
    "writes\n"
    "an array for numpy, F32 [vectors, d_model], and -o FILE.svg (.png, .pdf, .html) a picture: the vectors along the\n"
    "two directions in which they differ the most (principal components). An encoder-decoder model gives its "
    "encoder's\n"
    "states. Layer 0 is the embeddings. A line that has no vector is reported on standard error, has an empty line or\n"
    "a row of zeros, and makes the exit code 1. docs/vectors.md has more.\n\n"
    "Examples:\n"
    "  headscope embed --text 'The cat sleeps.'\n"
    "  headscope embed --pooling first --layer 2 text.en -o text.npy\n"
    "  headscope embed --model en-de --unit word --json --text 'The cat sleeps.'\n"
    "  headscope embed --cosine text.en\n"
    "  headscope embed --nearest 2 --among text.en --text 'The cat sleeps.'\n"
    "  headscope embed --unit word text.en -o words.svg";

}  // namespace

void add_embed_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<EmbedOptions>();
    options->common.open = open_options;
    options->common.bundled_model = kMaskedModel;
    CLI::App* command = app.add_subcommand("embed", "Turn lines, words or pieces into vectors")->group("Look");
    command->footer(kAboutEmbed);
    CLI::Option* file = command
                            ->add_option("FILE", options->input,
                                         "UTF-8 text, one sentence per line, may be compressed; - is standard input")
                            ->capture_default_str();
    command->option_defaults()->group("Data");
    add_text(*command, file);
    add_decoding_flags(*command, options->choices, {"source_language", "target_language", "task_prefix"});
    options->common.add_model(*command);
    options->common.add_device_list(*command);
    options->common.add_precision(*command);
    command->option_defaults()->group("Device");
    command->add_option("--batch-tokens", options->batch_tokens, "Pieces that are read at a time")
        ->check(whole_number(1, 10'000'000))
        ->capture_default_str();
    command->option_defaults()->group("Vectors");
    add_choice(
        *command, "--unit", kVectorUnits,
        [options](std::size_t i) { options->vectors.unit = static_cast<VectorUnit>(i); }, "What gets a vector");
    add_choice(
        *command, "--pooling", kPoolings,
        [options](std::size_t i) { options->vectors.pooling = static_cast<Pooling>(i); },
        "Which of the states of a line's or word's pieces: their mean, the first ([CLS] of a line), or the last");
    command->add_option("--layer", options->vectors.layer, "After this layer, from 1; 0: the embeddings")
        ->check(whole_number(0))
        ->default_str("the last");
    command->option_defaults()->group("Output");
    CLI::Option* nearest =
        command->add_option("--nearest", options->nearest, "Print this many of the vectors of --among for each vector")
            ->check(whole_number(1));
    CLI::Option* among = command->add_option("--among", options->among, "Lines whose vectors are compared")
                             ->type_name("FILE")
                             ->check(not_empty)
                             ->needs(nearest);
    nearest->needs(among);
    command->add_flag("--cosine", options->cosine, "Print the cosine of each vector with each")->excludes(nearest);
    command
        ->add_option("-o,--output", options->output,
                     "Write to this file: an array if it ends in .npy, a picture if it ends in\n" + picture_names() +
                         ", else what is printed")
        ->type_name("FILE")
        ->check(not_empty);
    options->common.add_json(*command);
    command->callback([options] { embed(*options); });
}

}  // namespace headscope
