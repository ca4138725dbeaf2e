// headscope attention: shows the attention of heads in a sentence or text, as one of the paper's figures or as a table.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "answers/json_output.h"
#include "cli/command.h"
#include "cli/look/attention_corpus.h"
#include "cli/look/attention_inside.h"
#include "cli/look/attention_on_picture.h"
#include "cli/look/attention_options.h"
#include "cli/look/attention_page.h"
#include "cli/look/class_token.h"
#include "cli/opened_engine.h"
#include "io/atomic_file.h"
#include "io/input_files.h"
#include "observe/family_labels.h"
#include "observe/head_search.h"
#include "observe/repeated_text.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

// The folder of the model. Error for an output that would overwrite an input.
std::string input_model(const AttentionOptions& options) {
    const std::string directory = options.common.model_path();
    InputFiles inputs(options.common.open.settings);
    inputs.add(directory);
    inputs.add(options.corpus);
    inputs.refuse(options.output);
    return directory;
}

// Completes the request for the model.
RecordRequest request_for(const AttentionOptions& options, const ModelConfig& config) {
    check_family_options(options, config.architecture);
    RecordRequest request = options.request;
    request.selection = checked_selection(options, config);
    request.precision = options.common.precision;
    return request;
}

// Takes layer and heads from the search: the layer of the head with this rank, and the best heads in it. Logs them.
void choose_found(AttentionSelection& selection, const AttentionRecord& record, const AttentionOptions& options) {
    const std::vector<FoundHead> found = find_heads(record, selection, parse_head_query(options.find));
    if (options.rank > static_cast<int>(found.size())) {
        throw UsageError(fmt::format("--rank {} is out of range: the search found {}", options.rank, found.size()));
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

// Whether the question is about the places of tokens, so that any text that repeats itself answers it.
bool asks_for_places(const AttentionOptions& options) {
    return options.all_heads ? row_of(parse_head_order(options.order)).asks_for_places
                             : !options.find.empty() && asks_for_places(parse_head_query(options.find).rule);
}

// The figure or table of one sentence.
std::string look_at_sentence(const AttentionOptions& options, const ShownFormat& format) {
    if (!options.find.empty()) {
        parse_head_query(options.find);  // reports mistakes before loading the model
    }
    OpenedEngine opened(options.common, {input_model(options)});
    RecordRequest request = request_for(options, opened.directory().config);
    const bool reads_pictures = opened.directory().config.input.patches();
    if (options.has_picture != reads_pictures) {
        throw UsageError(fmt::format("{} reads {}: give {}", opened.directory().path,
                                     reads_pictures ? "pictures" : "text",
                                     reads_pictures ? "--picture FILE" : "--text"));
    }
    if (reads_pictures) {
        choose_patch(options, opened.directory().config, request.selection);
    }
    if (!options.has_text && asks_for_places(options)) {
        request.text = repeated_text(opened.directory());
        log_line("the text, random words twice: " + request.text.substr(request.text.find_first_not_of(' ')));
    }
    if (options.class_token) {
        choose_class_token(request.selection, opened.directory());
    }
    AttentionRecord record;
    std::string class_of_text;
    opened.run([&](const Place& place) {
        record = record_for(place.backend, place.model, request);
        class_of_text = options.class_token ? class_sentence(place, request.text) : "";
    });
    AttentionSelection selection = request.selection;
    if (!options.find.empty()) {
        choose_found(selection, record, options);
    }
    if (reads_pictures && format.picture != nullptr && options.picture.picture == AttentionPicture::Figure) {
        return draw_on_picture(options, opened.directory().config, record, selection, *format.picture);
    }
    PictureOptions picture = options.picture;
    picture.group = heads_in_group(opened.directory().config, selection.kind);
    ShownAttention shown = select_shown(record, selection, picture);
    if (auto* figure = std::get_if<ShownFigure>(&shown); figure != nullptr && options.class_token) {
        std::string& note = figure->attention.note;
        note = class_of_text + (note.empty() ? "" : " ") + note;
    }
    return write_shown(shown, picture, format);
}

std::string look_at_sentences(const AttentionOptions& options, const ShownFormat& format) {
    if (options.find.empty() != options.importance) {
        throw UsageError("--corpus needs either --find or --importance");
    }
    CorpusLook look{.corpus = options.corpus,
                    .limit = options.limit,
                    .question = CorpusLook::Importance{options.bleu},
                    .request = {},
                    .picture = options.picture,
                    .format = format};
    if (!options.find.empty()) {
        look.question = CorpusLook::Find{parse_corpus_queries(options.find)};
    }
    OpenedEngine opened(options.common, {input_model(options)});
    require_text_input(opened.directory(), "headscope attention --corpus");
    look.request = request_for(options, opened.directory().config);
    return look_at_corpus(opened, look);
}

void show_attention(AttentionOptions options) {
    if (options.common.json) {
        options.output = "-";
        options.format = "json";
    }
    const ShownFormat format = shown_format(options.output, options.format);
    options.picture = picture_options(options);
    const FigureOptions& figure = options.picture.figure;
    const bool drawn = format.picture != nullptr && options.picture.picture == AttentionPicture::Figure;
    if ((figure.least > 0.0 || figure.top > 0 || figure.numbers || figure.probabilities) && !drawn) {
        throw UsageError(
            "--least, --top, --numbers and --probabilities are for a figure: give -o FILE.svg, and neither --matrix "
            "nor --all-heads");
    }
    if (options.saliency && options.pieces && format.picture == nullptr) {
        throw UsageError("--pieces with --saliency is for a picture: give -o FILE.svg; text and JSON have pieces");
    }
    if ((!options.picture.title.empty() || !options.picture.caption.empty()) && format.picture == nullptr) {
        throw UsageError("--title and --caption are for a picture: give -o FILE.svg");
    }
    if (options.page && (format.picture == nullptr || std::string_view(format.picture->name) != "html")) {
        throw UsageError("--page writes a page for a browser: give -o FILE.html");
    }
    const AttentionSelection& chosen = options.request.selection;
    if (figure.numbers && chosen.words.empty() && chosen.positions.empty() && options.find.empty() &&
        !options.class_token) {
        throw UsageError("--numbers are those of a chosen word: give --word, --position, --class-token or --find");
    }
    std::string bytes = looks_inside(options)    ? look_inside(options, format)
                        : options.page           ? look_at_page(options)
                        : options.corpus.empty() ? look_at_sentence(options, format)
                                                 : look_at_sentences(options, format);
    if (format.json) {
        bytes = json_with_schema(bytes);
    }
    if (options.output.empty() || options.output == "-") {
        write_output(bytes);
    } else {
        atomic_write_file(options.output, bytes);
    }
}

}  // namespace

void add_attention_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<AttentionOptions>();
    options->common.open = open_options;
    CLI::App* command =
        app.add_subcommand("attention", "Draw the attention of every head, like the paper's figures")->group("Look");
    add_attention_options(*command, *options);
    command->callback([options, command] {
        options->has_picture = command->count("--picture") > 0;
        options->has_text = command->count("--text") > 0 || options->has_picture;
        if (!options->has_text && command->count("--corpus") == 0 && !asks_for_places(*options)) {
            throw UsageError("--text, --picture or --corpus is required");
        }
        show_attention(*options);
    });
}

}  // namespace headscope
