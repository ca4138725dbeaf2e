// headscope attention: what the heads look at in a sentence, as one of the paper's figures or as a table.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/command.h"
#include "app/precision_option.h"
#include "drawing/svg.h"
#include "infer/model_lookup.h"
#include "infer/translator.h"
#include "io/atomic_file.h"
#include "observe/attention_table.h"
#include "observe/decoding_recorder.h"
#include "observe/figure.h"
#include "observe/record_attention.h"
#include "registry/registry.h"
#include "support/check.h"

namespace headscope {
namespace {

// The layer of the paper's Figures 3 to 5.
constexpr int kPaperLayer = 5;

struct AttentionOptions {
    std::string text;
    std::string target;
    std::string model;
    std::string device;
    std::string kind = "encoder";
    std::string output;
    std::string palette = "paper";
    Precision precision = Precision::F32;
    int beam = 4;
    std::int64_t pads = 0;
    bool pieces = false;
    bool words = false;
    bool no_special = false;
    FigureOptions figure = {.layer = 0};
};

// The figure's options once the model is known; Error before anything is computed if it has no such layer or head.
FigureOptions figure_options(const AttentionOptions& options, const ModelConfig& config) {
    FigureOptions figure = options.figure;
    figure.kind = parse_attention_kind(options.kind);
    const int layers = figure.kind == AttentionKind::EncoderSelf ? config.encoder_layers : config.decoder_layers;
    if (figure.layer == 0) {
        figure.layer = std::min(kPaperLayer, layers);
    }
    check_layer(figure.kind, figure.layer, layers);
    check_heads(figure.heads, static_cast<int>(config.heads));
    figure.palette = options.palette == "okabe-ito" ? Palette::OkabeIto : Palette::Paper;
    figure.rows = {.join_words = !options.pieces, .show_pads = options.pads > 0, .show_special = !options.no_special};
    return figure;
}

RecordedText read_text(const Tokenizer& tokenizer, const std::string& text, const char* option,
                       const ModelConfig& config) {
    RecordedText read = encode_text(tokenizer, text);
    if (read.ids.empty()) {
        throw Error(fmt::format("{} holds no text", option));
    }
    const auto length = static_cast<std::int64_t>(read.ids.size()) + 1;
    if (length > config.max_length) {
        throw Error(fmt::format("{} has {} pieces with its end, and the model takes at most {}", option, length,
                                config.max_length));
    }
    return read;
}

// A given target is read at once; without one the model translates and is looked at while it does. The encoder's
// attention needs neither.
AttentionRecord look(Backend& backend, const Translator& translator, const AttentionOptions& options,
                     const FigureOptions& figure) {
    const ModelDirectory& model = translator.model();
    const RecordedText source = read_text(*model.source_tokenizer, options.text, "--text", model.config);
    const RecordOptions record{.sites = {{figure.kind, figure.layer - 1}},
                               .source_pads = options.pads,
                               .compute = chosen_arithmetic(backend, options.precision).compute};
    if (!options.target.empty()) {
        const RecordedText target = read_text(*model.target_tokenizer, options.target, "--target", model.config);
        return record_attention(backend, translator.transformer(), source, target, record);
    }
    if (figure.kind == AttentionKind::EncoderSelf) {
        return record_attention(backend, translator.transformer(), source, {}, record);
    }
    if (options.pads > 0) {
        throw Error("--pads needs --target, or --kind encoder: a translation is found without pads");
    }
    return record_translation(backend, translator.transformer(), *model.target_tokenizer, source,
                              {.beam = options.beam}, record)
        .record;
}

// For CLI11: what is wrong with one of several numbers, or nothing.
std::string check_number(const std::string& text) {
    const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos && text.size() < 10;
    return number ? "" : "numbers separated by commas were expected, such as 1,5, and not \"" + text + "\"";
}

void check_output(const std::string& path) {
    const std::string ending = ".svg";
    if (!path.empty() && path != "-" &&
        (path.size() <= ending.size() || path.compare(path.size() - ending.size(), ending.size(), ending) != 0)) {
        throw Error("'" + path + "' does not end in .svg, which is what is written; rsvg-convert makes a bitmap of it");
    }
}

void show_attention(const AttentionOptions& options) {
    check_output(options.output);
    const std::string directory = find_model(options.model);
    const std::unique_ptr<Backend> backend = open_device(options.device);
    const Translator translator(*backend, directory, chosen_arithmetic(*backend, options.precision).storage);
    const FigureOptions figure = figure_options(options, translator.model().config);
    const AttentionRecord record = look(*backend, translator, options, figure);
    if (options.output.empty()) {
        write_output(attention_table(record, figure));
    } else if (options.output == "-") {
        write_output(to_svg(draw_figure(record, figure)));
    } else {
        atomic_write_file(options.output, to_svg(draw_figure(record, figure)));
    }
}

constexpr const char* kExamples =
    "Without -o a table says what each head looks at most. Layers, heads and positions count from 1.\n"
    "Without --target the decoder's attention is that of the model's own translation.\n\n"
    "Examples:\n"
    "  headscope attention --text 'The cat sleeps because it is tired.' --word it\n"
    "  headscope attention --text 'The cat sleeps.' --layer 5 --heads 5 -o cat.svg\n"
    "  headscope attention --text 'The cat sleeps.' --kind cross --layer 3 --overview -o cat.svg\n"
    "  headscope attention --text 'The cat sleeps.' --target 'Die Katze schläft.' --kind decoder -o cat.svg";

}  // namespace

void add_attention_command(CLI::App& app) {
    auto options = std::make_shared<AttentionOptions>();
    FigureOptions& figure = options->figure;
    CLI::App* command = app.add_subcommand("attention", "Draw what the heads look at, like the paper's figures");
    command->footer(kExamples);
    command->add_option("--text", options->text, "The sentence that the encoder reads")->required();
    command->add_option("--target", options->target, "The sentence that the decoder reads");
    command->add_option("--model", options->model, "Model directory; without it HEADSCOPE_MODEL or the en-de model");
    command->add_option("--device", options->device, "cpu, cuda, vulkan, vulkan:1, ...; see headscope devices");
    add_precision_option(*command, options->precision, "f32 (default), tf32, bf16 or f16, where the device has it");
    command->add_option("--kind", options->kind, "encoder, decoder or cross")->capture_default_str();
    command->add_option("--layer", figure.layer, "From 1; without it 5, as in the paper, or the last")
        ->check(CLI::PositiveNumber);
    command->add_option("--heads", figure.heads, "From 1, separated by commas; without it all")
        ->delimiter(',')
        ->check(check_number);
    command->add_option("--word", figure.words, "Draw this word's lines alone; its:2 is the second of several \"its\"");
    command->add_option("--position", figure.positions, "The same by column")->delimiter(',')->check(check_number);
    command->add_flag("--overview", figure.overview, "Without a word: each line at weight / active heads");
    command->add_option("--palette", options->palette, "okabe-ito is for readers with a colour blindness")
        ->check(CLI::IsMember({"paper", "okabe-ito"}))
        ->capture_default_str();
    CLI::Option* pieces = command->add_flag("--pieces", options->pieces, "One column a piece of the vocabulary");
    command->add_flag("--words", options->words, "One column a word (the default)")->excludes(pieces);
    command->add_option("--pads", options->pads, "Show so many pads behind the source, as Figure 3 does")
        ->check(CLI::Range(0, 64));
    command->add_flag("--no-special", options->no_special, "Leave <BOS> and <EOS> out");
    command->add_option("--text-size", figure.text_size, "Pixels; all lengths follow")
        ->check(CLI::Range(1.0, 1000.0))
        ->capture_default_str();
    command->add_option("--beam", options->beam, "Hypotheses kept while translating")
        ->check(CLI::Range(1, SearchOptions::kMaxBeam))
        ->capture_default_str();
    command->add_option("-o,--output", options->output, "An .svg file; - is standard output");
    command->callback([options] { show_attention(*options); });
}

}  // namespace headscope
