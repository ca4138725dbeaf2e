#include "viewer/panels/parts.h"

#include <algorithm>

#include <fmt/format.h>

#include "figures/picture_attention.h"
#include "model/family.h"
#include "observe/family_labels.h"
#include "paint/text_width.h"
#include "support/utf8.h"
#include "text/segmenter.h"
#include "viewer/session/fits.h"
#include "viewer/session/rows.h"

namespace headscope::viewer {

namespace {

constexpr double kTextLine = 1.6;  // between baselines

std::size_t letters_in(const std::string& piece) {
    std::size_t letters = 0;
    for (std::size_t at = piece.starts_with(kWordStart) ? kWordStart.size() : 0; at < piece.size(); ++letters) {
        next_character(piece, at);
    }
    return letters;
}

// The first step that writes a word of more than three letters, since shorter ones are mostly articles; or else the
// first.
int telling_step(const Exploration& shown) {
    constexpr std::size_t kArticle = 3;
    const std::vector<RecordedToken>& written = shown.record.target_out;
    for (std::size_t step = static_cast<std::size_t>(shown.prompt); step < shown.steps.size(); ++step) {
        const bool word = step < written.size() && written[step].kind == TokenKind::Piece;
        if (word && letters_in(written[step].text) > kArticle) {
            return static_cast<int>(step);
        }
    }
    return static_cast<int>(shown.prompt);
}

// What is shown without a choice: the selected mask, or a picture's class token; -1: everything.
int usual_column(const Scene& scene) {
    const bool has_class = shows_patches(scene) && shown_kind(scene) == AttentionKind::EncoderSelf &&
                           scene.main.model->config.input.class_token;
    return has_class ? 0 : mask_column(scene);
}

double room_for_text(const PanelOptions& options) {
    return std::max(options.width / options.text_size - 4.0, 12.0);
}

}  // namespace

Look look_of(const PanelOptions& options) {
    return {.text_size = options.text_size, .ink = options.ink, .tips = options.tips};
}

FigureOptions figure_options(const Scene& scene, const PanelOptions& options) {
    const ViewState& state = scene.state;
    return {.overview = shows_overview(state, heads_of(scene)),
            .side_by_side = state.overview.value_or(true),
            .least = state.least,
            .top = state.top,
            .numbers = state.numbers,
            .palette = state.palette,
            .look = look_of(options)};
}

Drawing draw_heading(const std::string& text, const PanelOptions& options) {
    constexpr double kSize = 1.15;
    Sketch sketch(look_of(options));
    double y = 1.9;
    double longest = 0.0;
    for (const std::string& line : wrapped(text, room_for_text(options) / kSize)) {
        sketch.text({Role::Title}, options.ink.text, {1.0, y, kSize, Anchor::Start, false, true, line});
        longest = std::max(longest, text_width(line));
        y += kTextLine;
    }
    return sketch.finish(longest * 1.25 + 3.0, y - kTextLine + 0.7, "", text);
}

Drawing draw_remark(const std::string& text, const PanelOptions& options) {
    constexpr double kSize = 1.1;
    Sketch sketch(look_of(options));
    const double room = room_for_text(options);
    double y = 2.5;
    for (const std::string& line : wrapped(text, room / kSize)) {
        sketch.text({Role::Note}, options.ink.faint, {2.0, y, kSize, Anchor::Start, false, false, line});
        y += kTextLine;
    }
    return sketch.finish(std::min(room, text_width(text) * kSize + 1.0) + 4.0, y, "", text);
}

Drawing draw_attention(const Scene& scene, const Side& side, const PanelOptions& options) {
    if (const std::string missing = missing_attention(scene, side); !missing.empty()) {
        return draw_remark(missing, options);
    }
    const AttentionRecord& record = side.shown->record;
    return draw_selected(scene, side, select_attention(record, word_selection_of(scene, record)), shown_kind(scene),
                         options);
}

Drawing draw_selected(const Scene& scene, const Side& side, const SelectedAttention& selected, AttentionKind kind,
                      const PanelOptions& options) {
    return looks_at_patches(side.model->config, kind)
               ? draw_map_of_patches(map_of(side, selected, kind, options), options)
               : draw_figure(selected, figure_options(scene, options));
}

PatchMap map_of(const Side& side, const SelectedAttention& selected, AttentionKind kind, const PanelOptions& options) {
    PatchMap map = map_attention(selected, kind, side.model->config, *side.shown->picture);
    const double room = options.width / options.text_size - 2.0 + kPatchMapGap;
    constexpr int kLeastColumns = 3;  // in a narrow panel the copies are smaller
    constexpr double kLeastTile = 5.0;
    map.columns = std::max(static_cast<int>(room / (map.tile + kPatchMapGap)), kLeastColumns);
    map.tile = std::clamp(room / map.columns - kPatchMapGap, kLeastTile, map.tile);
    return map;
}

Drawing draw_map_of_patches(const PatchMap& map, const PanelOptions& options) {
    Look look = look_of(options);
    look.tips = true;
    return draw_patch_map(map, look);
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
        return kMixesOtherwise;
    }
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
        return fmt::format("This model has no {} attention.", headscope::name_of(kind));
    }
    const AttentionRecord& record = side.shown->record;
    const AttentionSite site{kind, selection_of(scene, record).layer - 1};
    if (side.answered.has_value() && side.answered->layer.has_value() && side.answered->layer != site) {
        return "Computing \u2026";
    }
    return recorded(record, site)
               ? ""
               : fmt::format("This attention appears with the first word of the {}.", noun_of(scene));
}

std::string missing_figure(const Scene& scene) {
    const std::string nothing = nothing_there(scene.main);
    return nothing.empty() ? missing_attention(scene, scene.main) : nothing;
}

AttentionSelection selection_of(const Scene& scene, const AttentionRecord& record) {
    return selection_of(scene, record, shown_kind(scene));
}

AttentionSelection selection_of(const Scene& scene, const AttentionRecord& record, AttentionKind kind) {
    const ViewState& state = scene.state;
    AttentionSelection selection{.kind = kind, .rows = row_options(scene)};
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

AttentionSelection word_selection_of(const Scene& scene, const AttentionRecord& record) {
    AttentionSelection selection = selection_of(scene, record);
    const Direction direction = shown_direction(scene);
    const int word = scene.hovered_word >= 0 ? scene.hovered_word
                     : scene.state.word >= 0 ? scene.state.word
                                             : usual_column(scene);
    if (word >= 0 && word < static_cast<int>(words_of(scene, direction))) {
        selection.positions = {word + 1};
        selection.looked_at = direction == Direction::To;
    }
    return selection;
}

std::vector<SelectedAttention> figure_contents(const Scene& scene) {
    if (!missing_attention(scene, scene.main).empty()) {
        return {};
    }
    const AttentionRecord& record = scene.main.shown->record;
    return {select_attention(record, word_selection_of(scene, record))};
}

void forget_input(const Scene& /*scene*/, ViewState& state) {
    state.text.clear();
    state.target.reset();
    state.conversation = {};
    state.edits.clear();
}

bool shows_gaps(const Scene& scene) {
    return scene.main.shown != nullptr && !scene.main.shown->gaps.empty() && !scene.state.by_piece;
}

int count_of_steps(const Scene& scene) {
    const Exploration* shown = scene.main.shown.get();
    return shown == nullptr ? 0 : static_cast<int>(shows_gaps(scene) ? shown->gaps.size() : shown->steps.size());
}

int chosen_step(const Scene& scene) {
    if (!shows_gaps(scene)) {
        return count_of_steps(scene) > 0 ? shown_step(scene) : -1;
    }
    const int chosen = scene.hovered_step >= 0 ? scene.hovered_step : scene.state.step;
    return std::clamp(chosen, 0, count_of_steps(scene) - 1);
}

int shown_step(const Scene& scene) {
    const Exploration& shown = *scene.main.shown;
    const int last = static_cast<int>(shown.steps.size()) - 1;
    if (shows_gaps(scene)) {
        const ExploredStep& gap = shown.gaps[static_cast<std::size_t>(chosen_step(scene))];
        return std::min(static_cast<int>(gap.position) + 1, last);
    }
    const int chosen = scene.hovered_step >= 0 ? scene.hovered_step : scene.state.step;
    if (chosen >= 0) {
        return std::min(chosen, last);
    }
    // While the output grows, its end is what is new.
    return shown.finished && !traits(family_of(scene)).fills_masks ? std::min(telling_step(shown), last) : last;
}

std::optional<AttentionSelection> step_selection(const Scene& scene) {
    const AttentionRecord& record = scene.main.shown->record;
    const int step = shown_step(scene);
    const FamilyTraits& family = traits(family_of(scene));
    const AttentionKind kind = family.reads_source && family.writes_pieces ? AttentionKind::Cross : shown_kind(scene);
    AttentionSelection selection = selection_of(scene, record, kind);
    if (kind != scene.state.kind && follows_choice(scene.state)) {  // it chose a head of other attention
        selection.layer = shown_layer(ViewState(), record.decoder_layers);
        selection.heads.clear();
    }
    if (step < 0 || !recorded(record, {kind, selection.layer - 1})) {
        return std::nullopt;
    }
    selection.rows.join_words = false;  // one column per piece, as a step writes one piece
    selection.rows.show_special = selection.rows.show_first = true;
    if (family.writes_pieces || usual_column(scene) >= 0) {  // a class may be that of all patches
        selection.positions = {static_cast<int>(scene.main.shown->steps[static_cast<std::size_t>(step)].position) + 1};
    }
    return selection;
}

std::vector<SelectedAttention> step_contents(const Scene& scene) {
    const std::optional<AttentionSelection> selection = step_selection(scene);
    return selection.has_value() ? std::vector{select_attention(scene.main.shown->record, *selection)}
                                 : std::vector<SelectedAttention>{};
}

bool edits_answered(const Scene& scene) {
    return scene.main.shown != nullptr && scene.main.answered == request_of(scene, scene.main);
}

bool original_answered(const Scene& scene) {
    return scene.main.original != nullptr && scene.main.original->problem.empty() &&
           scene.main.answered_original == without_edits(request_of(scene, scene.main));
}

}  // namespace headscope::viewer
