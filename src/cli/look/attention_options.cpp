#include "cli/look/attention_options.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "model/family.h"
#include "observe/family_labels.h"
#include "options/decoding_flags.h"
#include "options/option_values.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

// The layer of the paper's Figures 3 to 5.
constexpr int kPaperLayer = 5;

// Validator for CLI11: a positive number.
std::string check_number(const std::string& text) {
    const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos && text.size() < 10;
    return number ? "" : "must be numbers separated by commas, such as 1,5, got \"" + text + "\"";
}

constexpr const char* kAboutAttention =
    "Without -o a table says what each head looks at most, --matrix all weights of a head, --all-heads every head's\n"
    "statistics. Layers, heads and positions count from 1.\n"
    "Without --target the decoder's attention is that of the model's own translation.\n"
    "--page writes every head and its queries and keys as one page, which needs no network: -o FILE.html.\n"
    "A causal language model reads the text as a prompt, and with --max-tokens also its continuation. A masked one\n"
    "reads it with each [MASK] as a masked token.\n\n"
    "--find looks for heads in every layer (or in --layer) by a rule, and draws them:\n"
    "  link=WORD,WORD      the most weight from the first word to the second\n"
    "  long-distance=WORD  the most from the word to words at least five away\n"
    "  long-distance       the greatest mean distance among sharp heads\n"
    "  anaphora=WORD       the most from the word to one single word at least two before it\n"
    "  structure           the sharpest that follows neither position nor the end of the sentence\n"
    "  previous-token      the most from every token to the one before it\n"
    "  induction           the most from repeated tokens to what followed them before\n"
    "  duplicate-token     the most from repeated tokens to their earlier places\n"
    "Here \\, is a comma within a word and \\\\ a backslash, as in link=1\\,000,euros. Words may be given in any "
    "normal\n"
    "form (composed or not). WORD:2 is its second occurrence.\n"
    "The last three rules, also as --all-heads --sort, need no --text for a model that completes text: it then reads "
    "50 "
    "random\n"
    "words twice.\n"
    "All but these, link, and long-distance without a word, count a weight by what it has beyond the mean that all "
    "words "
    "give\n"
    "to the same key.\n\n"
    "--corpus --find looks for the head that answers a rule's questions best in every second sentence, and measures "
    "it\n"
    "in the others beside the previous word, the best fixed offset and uniform weights:\n"
    "  anaphora            from an English pronoun to the only word before it that it can stand for\n"
    "  long-distance       from the second of two English words that belong together, five or more apart, to the "
    "first\n"
    "  structure           from a word to another one of its clause, in sentences with several\n"
    "  all, link=WORD,WORD the three, or from the first word to the second\n"
    "--corpus --importance measures the nats that are lost without heads, and prunes them.\n\n"
    "--saliency, --lens and --patch show more than attention, as a table or JSON, also of layers without attention.\n\n"
    "Examples:\n"
    "  headscope attention --text 'The cat sleeps because it is tired.' --word it\n"
    "  headscope attention --text 'The cat sleeps.' --layer 5 --heads 5 -o cat.svg\n"
    "  headscope attention --text 'The cat sleeps.' --kind cross --layer 3 --overview -o cat.png\n"
    "  headscope attention --text 'The cat sleeps because it is tired.' --find anaphora=it --word it -o it.svg\n"
    "  headscope attention --text 'The cat sleeps.' --all-heads --sort distance --theme dark -o heads.png\n"
    "  headscope attention --text 'The cat sleeps.' --layer 2 --heads 3 --matrix -o matrix.svg\n"
    "  headscope attention --text 'The cat sleeps.' --page -o heads.html\n"
    "  headscope attention --text 'The cat sleeps.' --json\n"
    "  headscope attention --text 'The cat sleeps.' --target 'Die Katze schläft.' --kind decoder -o cat.svg\n"
    "  headscope attention --text 'The cat sleeps.' --saliency\n"
    "  headscope attention --text 'The cat sleeps.' --lens -o lens.json\n"
    "  headscope attention --text 'The cat sleeps.' --patch 'encoder.*.residual_out' --from 'The dog sleeps.'\n"
    "  headscope attention --model en-causal --all-heads --sort induction\n"
    "  headscope attention --model vit --picture cat.png --layer 2 -o cat-patches.png\n"
    "  headscope attention --corpus pairs.tsv --find anaphora -o anaphora.svg\n"
    "  headscope attention --corpus pairs.tsv --importance -o importance.svg\n"
    "  headscope attention --model out/lm --text 'The weather' --max-tokens 5 -o weather.svg\n"
    "  headscope attention --model out/masked --text 'The [MASK] sleeps.' --word '[MASK]' -o mask.svg\n"
    "  headscope attention --model out/mood --text 'What a lovely day!' --class-token -o mood.svg";

// Options for what is computed.
void add_record_options(CLI::App& command, AttentionOptions& options) {
    command.option_defaults()->group("Data");
    command.add_option("--text", options.request.text, "The source sentence, or the text of a language model");
    command.add_option("--picture", options.request.text, "A PNG or JPEG file, of a model that reads pictures")
        ->type_name("FILE")
        ->excludes("--text");
    command
        .add_flag("--chat", options.request.chat,
                  "The text is a message to a causal language model, in its chat template")
        ->needs("--text");
    command.add_option("--target", options.request.target, "The target sentence; without it the model translates");
    command.add_option("--kind", options.kind, "encoder, decoder or cross")
        ->default_str("encoder, or the only one of a language model");
    command
        .add_option("--max-tokens", options.request.max_tokens,
                    "Also read this many tokens of a prompt's continuation, at most")
        ->check(whole_number(0, SearchOptions::kMaxExtra))
        ->capture_default_str();
    command.add_option("--pads", options.request.pads, "Append this many pads to the source, as in Figure 3")
        ->check(whole_number(0, 64));
    add_decoding_flags(command, options.request.choices, {"beam", "source_language", "target_language", "task_prefix"});
    options.common.add_model(command);
    options.common.add_device(command);
    options.common.add_precision(command);
}

// Options for what is shown.
void add_choice_options(CLI::App& command, AttentionOptions& options) {
    command.option_defaults()->group("Selection");
    AttentionSelection& selection = options.request.selection;
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
        command.add_option("--word", selection.words, "Draw only the lines of this word; its:2 is the second \"its\"")
            ->allow_extra_args(false);  // else CLI11 reads "[MASK]" as a list
    CLI::Option* position = command
                                .add_option("--position", selection.positions,
                                            "Draw only the lines of these columns; of --patch: these pieces")
                                ->delimiter(',')
                                ->check(check_number);
    command
        .add_option("--at", options.at,
                    "Draw what this patch of a picture looks at, such as 2,3: row and column, from 1")
        ->type_name("ROW,COLUMN")
        ->delimiter(',')
        ->expected(2)
        ->needs("--picture")
        ->excludes(word)
        ->excludes(position)
        ->check(check_number);
    CLI::Option* pieces =
        command.add_flag("--pieces", options.pieces, "One column per piece, or in a picture of --saliency");
    command.add_flag("--words", options.words, "One column per word (the default)")->excludes(pieces);
    command.add_flag("--no-special", options.no_special, "Leave out <BOS> and <EOS>, and renormalise the weights");
    CLI::Option* class_token =
        command.add_flag("--class-token", options.class_token,
                         "Draw only the lines of the token that gives a text its class, and name the class");
    for (const char* other : {"--find", "--word", "--position", "--no-special", "--chat", "--max-tokens"}) {
        class_token->excludes(other);
    }
    CLI::Option* matrix =
        command.add_flag("--matrix", options.matrix, "Draw one head as a heat map")->excludes(class_token);
    command.add_flag("--log", options.picture.logarithmic, "Logarithmic colours in the heat map")->needs(matrix);
    CLI::Option* all = command.add_flag("--all-heads", options.all_heads, "Draw every head of every layer, small");
    for (CLI::Option* other : {matrix, layer, heads, find, word, position, class_token}) {
        all->excludes(other);
    }
    command.add_option("--sort", options.order, "Order of --all-heads: " + head_order_names())
        ->needs(all)
        ->capture_default_str();
}

// Options for many sentences.
void add_corpus_options(CLI::App& command, AttentionOptions& options) {
    command.option_defaults()->group("Many sentences");
    CLI::Option* corpus = command.add_option("--corpus", options.corpus,
                                             "Lines of \"source TAB target\", or of text: for --find or --importance");
    for (const char* other :
         {"--text",      "--picture",  "--target", "--max-tokens", "--pads",        "--layer",        "--heads",
          "--best",      "--rank",     "--word",   "--position",   "--class-token", "--no-special",   "--matrix",
          "--all-heads", "--overview", "--least",  "--top",        "--numbers",     "--probabilities"}) {
        corpus->excludes(other);
    }
    CLI::Option* importance =
        command
            .add_flag("--importance", options.importance, "Leave out each head, each layer, and more and more heads")
            ->needs(corpus)
            ->excludes("--find")
            ->excludes("--kind")
            ->excludes("--pieces");
    command.add_option("--bleu", options.bleu, "Also translate this many sentences each time, for BLEU")
        ->needs(importance)
        ->check(whole_number(1));
    command.add_option("--limit", options.limit, "Only the first this many sentences of the corpus")
        ->needs(corpus)
        ->check(whole_number(1))
        ->default_str("all");
}

// Options for what the model computes beside attention.
void add_inside_options(CLI::App& command, AttentionOptions& options) {
    command.option_defaults()->group("Beside attention");
    CLI::Option* saliency = command.add_flag("--saliency", options.saliency,
                                             "What each predicted piece owes to each piece that the model reads");
    CLI::Option* lens =
        command.add_flag("--lens", options.lens, "What the model would write if it ended after each layer");
    CLI::Option* patch = command.add_option(
        "--patch", options.patch,
        "Put values of --from in the place of those at these sites (inspect --sites), one at a time");
    CLI::Option* from =
        command.add_option("--from", options.from, "The other text, read with the same target")->needs(patch);
    patch->needs(from)->check(not_empty);
    command.add_option("--steps", options.steps, "Integrated gradients: the mean over this many embeddings")
        ->needs(saliency)
        ->check(whole_number(1, 10'000))
        ->capture_default_str();
    saliency->excludes(lens)->excludes(patch);
    lens->excludes(patch);
    for (CLI::Option* option : {saliency, lens, patch}) {
        for (const char* other : {"--corpus", "--picture", "--kind", "--pads", "--layer", "--heads", "--find", "--word",
                                  "--words", "--class-token", "--no-special", "--matrix", "--all-heads", "--overview",
                                  "--least", "--top", "--numbers", "--probabilities", "--palette"}) {
            option->excludes(other);
        }
    }
    lens->excludes("--pieces");
    patch->excludes("--pieces");
    saliency->excludes("--position");
    lens->excludes("--position");
}

// Options for how it is drawn.
void add_look_options(CLI::App& command, AttentionOptions& options) {
    command.option_defaults()->group("Output");
    FigureOptions& figure = options.picture.figure;
    command.add_option("--title", options.picture.title, "Instead of the picture's title")->check(not_empty);
    command.add_option("--caption", options.picture.caption, "A line below the picture, such as the model's name")
        ->check(not_empty);
    command.add_flag("--overview", figure.overview,
                     "Lines of several heads side by side; without --word each at weight / root of heads");
    command.add_option("--least", figure.least, "Draw no line with a smaller weight")
        ->check(real_number(0.0, 1.0))
        ->default_str("0");
    command.add_option("--top", figure.top, "Draw only this many of the strongest lines of each word and head")
        ->check(whole_number(1))
        ->default_str("all");
    command.add_flag("--numbers", figure.numbers, "Write the weights of a chosen word below the slabs");
    command.add_flag("--probabilities", figure.probabilities,
                     "Shade each word that the model wrote by its probability, in cross-attention");
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
    CLI::Option* output =
        command.add_option("-o,--output", options.output, "An " + shown_names() + " file; -: standard output");
    CLI::Option* format = command.add_option("--format", options.format, "Format of -o -: the end of such a name");
    options.common.add_json(command)->excludes(output)->excludes(format);
}

// Declared after what it excludes.
void add_page_option(CLI::App& command, AttentionOptions& options) {
    CLI::Option* page =
        command.add_flag("--page", options.page, "Every head and its queries and keys in one page: -o FILE.html")
            ->group("Selection");
    for (const char* other : {"--kind",        "--layer",         "--heads",  "--find",      "--word",     "--position",
                              "--class-token", "--no-special",    "--matrix", "--corpus",    "--saliency", "--lens",
                              "--picture",     "--all-heads",     "--patch",  "--overview",  "--least",    "--top",
                              "--numbers",     "--probabilities", "--theme",  "--text-size", "--scale",    "--json"}) {
        page->excludes(other);
    }
}

}  // namespace

void add_attention_options(CLI::App& command, AttentionOptions& options) {
    command.footer(kAboutAttention);
    add_record_options(command, options);
    add_choice_options(command, options);
    add_look_options(command, options);
    add_corpus_options(command, options);
    add_inside_options(command, options);
    add_page_option(command, options);
}

PictureOptions picture_options(const AttentionOptions& options) {
    PictureOptions picture = options.picture;
    picture.order = parse_head_order(options.order);
    picture.figure.side_by_side = picture.figure.overview;
    picture.figure.palette = options.palette == "okabe-ito" ? Palette::OkabeIto : Palette::Paper;
    picture.figure.look.ink = options.theme == "dark" ? kDarkInk : kLightInk;
    picture.picture = options.matrix      ? AttentionPicture::Matrix
                      : options.all_heads ? AttentionPicture::AllHeads
                                          : AttentionPicture::Figure;
    return picture;
}

void check_family_options(const AttentionOptions& options, Architecture family) {
    const bool translates = traits(family).reads_source;
    const bool completes = traits(family).continues_text;
    for (const auto& [option, given, applies] :
         {std::tuple("--target", !options.request.target.empty(), translates),
          std::tuple("--pads", options.request.pads > 0, translates),
          std::tuple("--max-tokens", options.request.max_tokens > 0, completes),
          std::tuple("--beam", options.request.choices.beam.has_value(), translates || completes)}) {
        if (given && !applies) {
            throw UsageError(fmt::format("{} does not apply to this model: it is a {}", option, name_of(family)));
        }
    }
    if (completes && options.request.choices.beam.has_value() && options.request.max_tokens == 0) {
        throw UsageError("--beam needs --max-tokens: without it nothing is written");
    }
}

AttentionSelection checked_selection(const AttentionOptions& options, const ModelConfig& config) {
    AttentionSelection selection = options.request.selection;
    selection.kind = options.kind.empty() ? usual_kind(config) : parse_attention_kind(options.kind);
    if (kinds_of(config).empty()) {
        throw Error(kNoAttention);
    }
    const int layers = layers_of(config, traits(config.architecture, selection.kind).kind);
    if (selection.layer == 0 && options.find.empty() && !options.all_heads) {
        selection.layer = std::min(kPaperLayer, layers);
    }
    if (selection.layer != 0 || layers == 0) {
        check_layer(selection.kind, selection.layer, layers);
    }
    check_heads(selection.heads, heads_of(config, selection.kind));
    selection.rows = {
        .join_words = !options.pieces, .show_pads = options.request.pads > 0, .show_special = !options.no_special};
    return selection;
}

}  // namespace headscope
