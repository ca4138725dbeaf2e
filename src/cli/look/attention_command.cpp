// headscope attention: shows the attention of heads in a sentence, as one of the paper's figures or as a table.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/look/attention_pictures.h"
#include "engine/model_device.h"
#include "infer/translator.h"
#include "io/atomic_file.h"
#include "io/input_files.h"
#include "observe/decoding_recorder.h"
#include "observe/head_search.h"
#include "observe/record_attention.h"
#include "observe/selection.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "support/check.h"

namespace headscope {
namespace {

// The layer of the paper's Figures 3 to 5.
constexpr int kPaperLayer = 5;

struct AttentionOptions {
    CommonOptions common = {};
    std::string text;
    std::string target;
    std::string kind = "encoder";
    std::string output;
    std::string format;
    std::string palette = "paper";
    std::string theme = "light";
    std::string order = "model";
    std::string find;
    std::optional<int> beam;
    std::int64_t pads = 0;
    bool pieces = false;
    bool words = false;
    bool no_special = false;
    bool matrix = false;
    bool all_heads = false;
    int best = 1;
    int rank = 1;
    AttentionSelection selection = {.layer = 0};
    PictureOptions picture = {};
};

// Completes the selection for the model. Error if the model has no such layer or head.
AttentionSelection checked_selection(const AttentionOptions& options, const ModelConfig& config) {
    AttentionSelection selection = options.selection;
    selection.kind = parse_attention_kind(options.kind);
    const int layers = selection.kind == AttentionKind::EncoderSelf ? config.encoder_layers : config.decoder_layers;
    if (selection.layer == 0 && options.find.empty() && !options.all_heads) {
        selection.layer = std::min(kPaperLayer, layers);
    }
    if (selection.layer != 0) {
        check_layer(selection.kind, selection.layer, layers);
    }
    check_heads(selection.heads, static_cast<int>(config.heads));
    selection.rows = {
        .join_words = !options.pieces, .show_pads = options.pads > 0, .show_special = !options.no_special};
    return selection;
}

RecordedText read_text(const Tokenizer& tokenizer, const std::string& text, const char* option,
                       const ModelConfig& config) {
    RecordedText read = encode_text(tokenizer, text);
    if (read.ids.empty()) {
        throw Error(fmt::format("{} is empty", option));
    }
    const auto length = static_cast<std::int64_t>(read.ids.size()) + 1;
    if (length > config.max_length) {
        throw Error(fmt::format("{} has {} pieces including its end, but the model takes at most {}", option, length,
                                config.max_length));
    }
    return read;
}

// One layer, or all layers of the kind for a search or --all-heads.
std::vector<AttentionSite> recorded_sites(const AttentionSelection& selection, const ModelConfig& config) {
    if (selection.layer != 0) {
        return {{selection.kind, selection.layer - 1}};
    }
    std::vector<AttentionSite> sites;
    const int layers = selection.kind == AttentionKind::EncoderSelf ? config.encoder_layers : config.decoder_layers;
    sites.reserve(static_cast<std::size_t>(layers));
    for (int layer = 0; layer < layers; ++layer) {
        sites.push_back({selection.kind, layer});
    }
    return sites;
}

// Takes layer and heads from the search: the layer of the head with this rank, and the best heads in it.
void choose_found(AttentionSelection& selection, const AttentionRecord& record, const AttentionOptions& options) {
    const std::vector<FoundHead> found = find_heads(record, selection, parse_head_query(options.find));
    if (options.rank > static_cast<int>(found.size())) {
        throw Error(fmt::format("--rank {} is out of range: the search found {}", options.rank, found.size()));
    }
    const AttentionSite site = found[static_cast<std::size_t>(options.rank - 1)].site;
    selection.layer = site.layer + 1;
    selection.heads.clear();
    for (auto at = found.begin() + (options.rank - 1);
         at != found.end() && static_cast<int>(selection.heads.size()) < options.best; ++at) {
        if (at->site == site) {
            selection.heads.push_back(at->head);
            log_line(fmt::format("layer {}, head {}: {}", selection.layer, at->head, at->what));
        }
    }
    std::sort(selection.heads.begin(), selection.heads.end());
}

// Records the attention of a given target, or of the model's own translation. The encoder's attention needs neither.
AttentionRecord record_for(Backend& backend, const Translator& translator, const AttentionOptions& options,
                           const AttentionSelection& selection) {
    const ModelDirectory& model = translator.model();
    const RecordedText source = read_text(*model.source_tokenizer, options.text, "--text", model.config);
    const RecordOptions record{.sites = recorded_sites(selection, model.config),
                               .source_pads = options.pads,
                               .compute = chosen_arithmetic(backend, options.common.precision).compute};
    if (!options.target.empty()) {
        const RecordedText target = read_text(*model.target_tokenizer, options.target, "--target", model.config);
        return record_attention(backend, translator.transformer(), source, target, record);
    }
    if (selection.kind == AttentionKind::EncoderSelf) {
        return record_attention(backend, translator.transformer(), source, {}, record);
    }
    if (options.pads > 0) {
        throw Error("--pads needs --target or --kind encoder: the model translates without pads");
    }
    return record_translation(backend, translator.transformer(), *model.target_tokenizer, source,
                              translator.search_options({.beam = options.beam}), record)
        .record;
}

// Validator for CLI11: a positive number.
std::string check_number(const std::string& text) {
    const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos && text.size() < 10;
    return number ? "" : "must be numbers separated by commas, such as 1,5, got \"" + text + "\"";
}

void show_attention(const AttentionOptions& options) {
    const PictureFormat format = picture_format(options.output, options.format);
    PictureOptions picture = options.picture;
    picture.order = parse_head_order(options.order);
    picture.figure.palette = options.palette == "okabe-ito" ? Palette::OkabeIto : Palette::Paper;
    picture.figure.look.ink = options.theme == "dark" ? kDarkInk : kLightInk;
    picture.picture = options.matrix      ? AttentionPicture::Matrix
                      : options.all_heads ? AttentionPicture::AllHeads
                                          : AttentionPicture::Figure;
    if (!options.find.empty()) {
        parse_head_query(options.find);  // reports mistakes before loading the model
    }
    const std::string directory = options.common.model_path();
    InputFiles inputs(options.common.open.settings);
    inputs.add(directory);
    inputs.refuse(options.output);
    ModelDevice device(options.common.device(), options.common.precision, {directory}, options.common.open,
                       [](const std::string& message) { log_line("headscope: " + message); });
    device.load();
    AttentionSelection selection = checked_selection(options, device.translator().model().config);
    AttentionRecord record;
    device.run([&](Backend& backend, const Translator& translator) {
        record = record_for(backend, translator, options, selection);
    });
    if (!options.find.empty()) {
        choose_found(selection, record, options);
    }
    const std::string bytes = write_picture(record, selection, picture, format);
    if (options.output.empty() || options.output == "-") {
        write_output(bytes);
    } else {
        atomic_write_file(options.output, bytes);
    }
}

constexpr const char* kExamples =
    "Without -o a table says what each head looks at most, --matrix all weights of a head, --all-heads every head's\n"
    "statistics. Layers, heads and positions count from 1.\n"
    "Without --target the decoder's attention is that of the model's own translation.\n\n"
    "--find looks for heads in every layer (or in --layer) by a rule, and draws them:\n"
    "  link=WORD,WORD      the most weight from the first word to the second\n"
    "  long-distance=WORD  the most from the word to words at least five away\n"
    "  long-distance       the greatest mean distance among sharp heads\n"
    "  anaphora=WORD       the most from the word to one single word at least two before it\n"
    "  structure           the sharpest that follows neither position nor the end of the sentence\n"
    "Here \\, is a comma within a word and \\\\ a backslash, as in link=1\\,000,euros. Words may be given in any "
    "normal\n"
    "form (composed or not). WORD:2 is its second occurrence.\n"
    "All but link, and long-distance without a word, count a weight by what it has beyond the mean that all words "
    "give\n"
    "to the same key.\n\n"
    "Examples:\n"
    "  headscope attention --text 'The cat sleeps because it is tired.' --word it\n"
    "  headscope attention --text 'The cat sleeps.' --layer 5 --heads 5 -o cat.svg\n"
    "  headscope attention --text 'The cat sleeps.' --kind cross --layer 3 --overview -o cat.png\n"
    "  headscope attention --text 'The cat sleeps because it is tired.' --find anaphora=it --word it -o it.svg\n"
    "  headscope attention --text 'The cat sleeps.' --all-heads --sort distance --theme dark -o heads.png\n"
    "  headscope attention --text 'The cat sleeps.' --layer 2 --heads 3 --matrix -o matrix.svg\n"
    "  headscope attention --text 'The cat sleeps.' -o - --format json\n"
    "  headscope attention --text 'The cat sleeps.' --target 'Die Katze schläft.' --kind decoder -o cat.svg";

// Options for what is computed.
void add_record_options(CLI::App& command, AttentionOptions& options) {
    command.option_defaults()->group("Data");
    command.add_option("--text", options.text, "The source sentence")->required();
    command.add_option("--target", options.target, "The target sentence; without it the model translates");
    command.add_option("--kind", options.kind, "encoder, decoder or cross")->capture_default_str();
    command.add_option("--pads", options.pads, "Append this many pads to the source, as in Figure 3")
        ->check(whole_number(0, 64));
    command.add_option("--beam", options.beam, "Hypotheses kept while translating")
        ->check(whole_number(1, SearchOptions::kMaxBeam))
        ->default_str("the model's decoding.json, or 4");
    options.common.add_model(command);
    options.common.add_device(command);
    options.common.add_precision(command);
}

// Options for what is shown.
void add_choice_options(CLI::App& command, AttentionOptions& options) {
    command.option_defaults()->group("Selection");
    AttentionSelection& selection = options.selection;
    CLI::Option* layer = command.add_option("--layer", selection.layer, "Layer, from 1")
                             ->check(whole_number(1))
                             ->default_str("5 as in the paper, or the last");
    CLI::Option* heads = command.add_option("--heads", selection.heads, "Heads, from 1, such as 1,5")
                             ->default_str("all")
                             ->delimiter(',')
                             ->check(check_number);
    CLI::Option* find =
        command.add_option("--find", options.find, "Search for heads by a rule, see below")->excludes(heads);
    command.add_option("--best", options.best, "Show this many heads of the layer that was found, best first")
        ->needs(find)
        ->check(whole_number(1, 64))
        ->capture_default_str();
    command.add_option("--rank", options.rank, "Start with this result of the search, from 1")
        ->needs(find)
        ->check(whole_number(1, 4096))
        ->capture_default_str();
    CLI::Option* word =
        command.add_option("--word", selection.words, "Draw only the lines of this word; its:2 is the second \"its\"");
    CLI::Option* position =
        command.add_option("--position", selection.positions, "Draw only the lines of these columns")
            ->delimiter(',')
            ->check(check_number);
    CLI::Option* pieces = command.add_flag("--pieces", options.pieces, "One column per piece");
    command.add_flag("--words", options.words, "One column per word (the default)")->excludes(pieces);
    command.add_flag("--no-special", options.no_special, "Leave out <BOS> and <EOS>, and renormalise the weights");
    CLI::Option* matrix = command.add_flag("--matrix", options.matrix, "Draw one head as a heat map");
    command.add_flag("--log", options.picture.logarithmic, "Logarithmic colours in the heat map")->needs(matrix);
    CLI::Option* all = command.add_flag("--all-heads", options.all_heads, "Draw every head of every layer, small");
    for (CLI::Option* other : {matrix, layer, heads, find, word, position}) {
        all->excludes(other);
    }
    command
        .add_option("--sort", options.order, "Order of --all-heads: model, entropy, distance, sharpness or diagonal")
        ->needs(all)
        ->capture_default_str();
}

// Options for how it is drawn.
void add_look_options(CLI::App& command, AttentionOptions& options) {
    command.option_defaults()->group("Output");
    FigureOptions& figure = options.picture.figure;
    command.add_flag("--overview", figure.overview, "Without --word: draw each line at weight / active heads");
    command.add_option("--palette", options.palette, "Colours; okabe-ito suits colour-blind readers")
        ->check(CLI::IsMember({"paper", "okabe-ito"}))
        ->capture_default_str();
    command.add_option("--theme", options.theme, "Background")
        ->check(CLI::IsMember({"light", "dark"}))
        ->capture_default_str();
    command.add_option("--text-size", figure.look.text_size, "Font size in pixels; all lengths scale with it")
        ->check(real_number(1.0, 1000.0))
        ->capture_default_str();
    command.add_option("--scale", options.picture.scale, "PNG pixels per unit of the drawing")
        ->check(real_number(0.05, 100.0))
        ->capture_default_str();
    command.add_option("-o,--output", options.output, "An .svg, .png or .json file; -: standard output");
    command.add_option("--format", options.format, "Format of -o -: svg, png or json");
}

}  // namespace

void add_attention_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<AttentionOptions>();
    options->common.open = open_options;
    CLI::App* command =
        app.add_subcommand("attention", "Draw the attention of every head, like the paper's figures")->group("Look");
    command->footer(kExamples);
    add_record_options(*command, *options);
    add_choice_options(*command, *options);
    add_look_options(*command, *options);
    command->callback([options] { show_attention(*options); });
}

}  // namespace headscope
