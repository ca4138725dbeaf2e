#include "viewer/panels/panel_drawing.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "observe/derived_records.h"
#include "observe/family_labels.h"
#include "observe/record_json.h"
#include "paint/compose.h"
#include "paint/text_width.h"
#include "support/check.h"
#include "viewer/panels/panels.h"
#include "viewer/session/rows.h"
#include "viewer/session/wording.h"

namespace headscope::viewer {

Look look_of(const PanelOptions& options) {
    return {.text_size = options.text_size, .ink = options.ink, .tips = options.tips};
}

std::string nothing_there(const Side& side) {
    if (!side.problem.empty()) {
        return side.problem;
    }
    if (!side.model.has_value()) {
        return "Opening the model \u2026";
    }
    if (side.shown == nullptr) {
        return "Computing \u2026";
    }
    return side.shown->problem;
}

bool recorded(const AttentionRecord& record, const AttentionSite& site) {
    return std::any_of(record.sites.begin(), record.sites.end(),
                       [&](const SiteWeights& weights) { return weights.site == site; });
}

std::string missing_attention(const Scene& scene, const Side& side) {
    const std::vector<AttentionKind> kinds = kinds_of(side.model->config);
    const AttentionKind kind = shown_kind(scene);
    if (kinds.empty()) {
        return "This model has no attention: its layers mix tokens in other ways.";
    }
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
        return fmt::format("This model has no {} attention.", headscope::name_of(kind));
    }
    const AttentionRecord& record = side.shown->record;
    return recorded(record, {kind, selection_of(scene, record).layer - 1})
               ? ""
               : fmt::format("This attention appears with the first word of the {}.", noun_of(scene));
}

Drawing draw_heading(const std::string& text, const PanelOptions& options) {
    constexpr double kSize = 1.15;
    constexpr double kLine = 1.6;
    Sketch sketch(look_of(options));
    const double room = std::max(options.width / options.text_size - 4.0, 12.0);
    double y = 1.9;
    double longest = 0.0;
    for (const std::string& line : wrapped(text, room / kSize)) {
        sketch.text({Role::Title}, options.ink.text, {1.0, y, kSize, Anchor::Start, false, true, line});
        longest = std::max(longest, text_width(line));
        y += kLine;
    }
    return sketch.finish(longest * 1.25 + 3.0, y - kLine + 0.7, "", text);
}

Drawing draw_remark(const std::string& text, const PanelOptions& options) {
    constexpr double kSize = 1.1;
    constexpr double kLine = 1.6;
    Sketch sketch(look_of(options));
    const double room = std::max(options.width / options.text_size - 4.0, 12.0);
    double y = 2.5;
    for (const std::string& line : wrapped(text, room / kSize)) {
        sketch.text({Role::Note}, options.ink.faint, {2.0, y, kSize, Anchor::Start, false, false, line});
        y += kLine;
    }
    return sketch.finish(std::min(room, text_width(text) * kSize + 1.0) + 4.0, y, "", text);
}

AttentionSelection selection_of(const Scene& scene, const AttentionRecord& record) {
    return selection_of(scene, record, shown_kind(scene));
}

AttentionSelection selection_of(const Scene& scene, const AttentionRecord& record, AttentionKind kind) {
    const ViewState& state = scene.state;
    AttentionSelection selection{.kind = kind, .rows = row_options(state)};
    selection.layer =
        shown_layer(state, kind == AttentionKind::EncoderSelf ? record.encoder_layers : record.decoder_layers);
    const AttentionSite site{kind, selection.layer - 1};
    for (const SiteWeights& weights : record.sites) {
        if (weights.site == site) {
            selection.heads = active_heads(state, static_cast<int>(weights.heads));
        }
    }
    return selection;
}

FigureOptions figure_options(const Scene& scene, const PanelOptions& options) {
    return {.overview = scene.state.overview, .palette = scene.state.palette, .look = look_of(options)};
}

void choose_word(const Scene& scene, AttentionSelection& selection) {
    const int word = scene.hovered_word >= 0 ? scene.hovered_word
                     : scene.state.word >= 0 ? scene.state.word
                                             : mask_column(scene);
    if (word >= 0 && word < static_cast<int>(words_of(scene, scene.state.direction))) {
        selection.positions = {word + 1};
        selection.looked_at = scene.state.direction == Direction::To;
    }
}

Drawing draw_attention(const Scene& scene, const Side& side, const PanelOptions& options) {
    if (const std::string missing = missing_attention(scene, side); !missing.empty()) {
        return draw_remark(missing, options);
    }
    const AttentionRecord& record = side.shown->record;
    AttentionSelection selection = selection_of(scene, record);
    choose_word(scene, selection);
    return draw_figure(select_attention(record, selection), figure_options(scene, options));
}

namespace {

// The overview is as wide as the panel, unless that made its text smaller than this share of the other panels'.
constexpr double kSmallestText = 0.75;

Drawing draw_heads(const Scene& scene, const PanelOptions& options, RecordParts& parts) {
    const AttentionKind kind = shown_kind(scene);
    const AllHeadsOptions all{.width = options.width / options.text_size / kSmallestText,
                              .lines = scene.state.small_figures,
                              .palette = scene.state.palette,
                              .look = look_of(options)};
    const auto& shown = scene.main.shown;
    return draw_all_heads(parts.thumbnails(shown, kind, all.lines, row_options(scene.state)),
                          head_tiles(parts.statistics(shown), kind, scene.state.order), all);
}

Drawing draw_main_figure(const Scene& scene, const PanelOptions& options, RecordParts& parts) {
    AttentionSelection selection = selection_of(scene, scene.main.shown->record);
    choose_word(scene, selection);
    return draw_figure(parts.selected(scene.main.shown, selection), figure_options(scene, options));
}

// The heat map of the first visible head. Its marks hold `item`, the index into panel_contents().
Drawing draw_map(const Scene& scene, const AttentionRecord& record, int item, const PanelOptions& options) {
    AttentionSelection selection = selection_of(scene, record);
    choose_word(scene, selection);
    const SelectedAttention content = select_attention(record, selection);
    const HeatMapOptions map{.scale = scene.state.logarithmic ? Scale::Logarithmic : Scale::Linear,
                             .look = look_of(options)};
    Drawing drawing = draw_heat_map(content, content.heads.front(), map);
    for (Primitive& primitive : drawing.primitives) {
        primitive.mark.item = item;
    }
    return drawing;
}

// A mean or rollout is no head's attention, so the unchanged head is drawn next to it.
Drawing draw_matrix(const Scene& scene, const PanelOptions& options) {
    const AttentionRecord& record = scene.main.shown->record;
    const Drawing raw = draw_map(scene, record, 0, options);
    if (scene.state.matrix != MatrixView::Head) {
        return side_by_side({raw, draw_map(scene, matrix_record(scene, record), 1, options)}, 2.0 * options.text_size,
                            options.ink);
    }
    return stacked({raw, draw_neuron(scene, options)}, 2.0 * options.text_size, options.ink);
}

}  // namespace

AttentionRecord matrix_record(const Scene& scene, const AttentionRecord& record) {
    switch (scene.state.matrix) {
        case MatrixView::Head: return record;
        case MatrixView::HeadMean: return mean_of_heads(record);
        case MatrixView::LayerMean: return mean_of_layers(record);
        case MatrixView::Rollout: return rollout(record);
    }
    return record;
}

namespace {

Drawing drawn(const Scene& scene, PanelId panel, const PanelOptions& options, RecordParts& parts) {
    const bool needs_result = panel != PanelId::Model && panel != PanelId::Training && panel != PanelId::Tree;
    if (const std::string nothing = nothing_there(scene.main); !nothing.empty() && needs_result) {
        return draw_remark(nothing, options);
    }
    if (shows_attention_alone(panel)) {
        if (const std::string missing = missing_attention(scene, scene.main); !missing.empty()) {
            return draw_remark(missing, options);
        }
    }
    switch (panel) {
        case PanelId::Figure: return draw_main_figure(scene, options, parts);
        case PanelId::Heads: return draw_heads(scene, options, parts);
        case PanelId::Matrix: return draw_matrix(scene, options);
        case PanelId::Time: return draw_time(scene, options);
        case PanelId::Surgery: return draw_surgery(scene, options);
        case PanelId::Model: return draw_model(scene, options);
        case PanelId::Compare: return draw_comparison(scene, options);
        case PanelId::Training: return draw_training(scene, options);
        case PanelId::Tree: return draw_tree(scene, options);
    }
    return {};
}

}  // namespace

Drawing draw_panel(const Scene& scene, PanelId panel, const PanelOptions& options) {
    RecordParts parts;
    return draw_panel(scene, panel, options, parts);
}

Drawing draw_panel(const Scene& scene, PanelId panel, const PanelOptions& options, RecordParts& parts) {
    Drawing drawing = drawn(scene, panel, options, parts);
    if (drawing.title.empty()) {  // only a remark
        drawing.title = title_of(panel, family_of(scene));
    }
    return drawing;
}

namespace {

// The part of the state that a panel's drawing depends on. Drawing the heads of a long text takes longer than a frame,
// so typing and what other panels show must not repeat it.
ViewState seen_by(PanelId panel, const ViewState& state) {
    if (panel == PanelId::Heads) {
        ViewState seen;
        seen.kind = state.kind;
        seen.order = state.order;
        seen.small_figures = state.small_figures;
        seen.join_words = state.join_words;
        seen.show_special = state.show_special;
        seen.palette = state.palette;
        return seen;
    }
    ViewState seen = state;
    seen.panel = PanelId::Figure;
    if (panel == PanelId::Figure || panel == PanelId::Matrix) {  // these show a finished record
        seen.text.clear();
        seen.target.reset();
        seen.edits.clear();
    }
    return seen;
}

// A drawing that a window can show whatever is wrong: what a file says with an error, such as that rollout needs
// attention in every layer.
Drawing drawn_or_why_not(const Scene& scene, PanelId panel, const PanelOptions& options, RecordParts& parts) {
    try {
        return draw_panel(scene, panel, options, parts);
    } catch (const Error& error) {
        return draw_remark(error.what(), options);
    }
}

std::vector<SelectedAttention> contents_or_none(const Scene& scene, PanelId panel) {
    try {
        return panel_contents(scene, panel);
    } catch (const Error&) {  // the drawing says why
        return {};
    }
}

}  // namespace

bool PanelPictures::Kept::fits(const Key& wanted, const Scene& scene) const {
    const auto alike = [](const Side& a, const Side& b) { return a.problem == b.problem; };
    return key == wanted && alike(parts.main, scene.main) &&
           parts.main.model.has_value() == scene.main.model.has_value() &&
           (!scene.main.model.has_value() || parts.main.model->tag == scene.main.model->tag) &&
           parts.other.has_value() == scene.other.has_value() &&
           (!scene.other.has_value() || alike(*parts.other, *scene.other));
}

const Drawing& PanelPictures::of(const Scene& scene, PanelId panel, const PanelOptions& options) {
    Key key{
        .state = seen_by(panel, scene.state), .options = options, .hovered = {scene.hovered_word, scene.hovered_step}};
    if (panel == PanelId::Heads) {
        key.hovered = {-1, -1};
    }
    key.parts = {scene.main.shown.get(), scene.main.original.get(),
                 scene.importance.get(), scene.neuron.get(),
                 scene.run.get(),        scene.experiment.get(),
                 scene.weights.get(),    scene.other.has_value() ? scene.other->shown.get() : nullptr};
    for (Pictures& pictures : pictures_) {  // frees records that are no longer shown, which may be large
        for (std::optional<Kept>& kept : pictures.kept) {
            if (kept.has_value() && kept->parts.main.shown != scene.main.shown) {
                kept.reset();
            }
        }
    }
    parts_.look_at(scene.main.shown);
    Pictures& pictures = pictures_[static_cast<std::size_t>(panel)];
    pictures.shown = key.hovered == std::pair(-1, -1) ? 0 : 1;
    std::optional<Kept>& kept = pictures.kept[pictures.shown];
    if (!kept.has_value() || !kept->fits(key, scene)) {
        kept = Kept{std::move(key), scene, drawn_or_why_not(scene, panel, options, parts_), {}};
    }
    return kept->drawing;
}

std::string PanelPictures::tip(PanelId panel, const Mark& mark) {
    Pictures& pictures = pictures_[static_cast<std::size_t>(panel)];
    std::optional<Kept>& kept = pictures.kept[pictures.shown];
    // Words have no tip: pointing along them must not compute the weights again.
    const bool word = mark.role == Role::QueryLabel || mark.role == Role::KeyLabel || mark.role == Role::ChosenWord;
    if (!mark.tip.empty() || !kept.has_value() || word) {
        return mark.tip;
    }
    if (!kept->contents.has_value()) {
        kept->contents = contents_or_none(kept->parts, panel);
    }
    return panel_tip(*kept->contents, mark);
}

}  // namespace headscope::viewer
