// The decoding: the pieces written, their alternatives, and the beam.
#include <algorithm>

#include <fmt/format.h>

#include "figures/beam_tree_drawing.h"
#include "figures/candidates.h"
#include "model/family.h"
#include "paint/compose.h"
#include "viewer/panels/panel_drawing.h"
#include "viewer/panels/panels.h"
#include "viewer/session/rows.h"
#include "viewer/session/wording.h"

namespace headscope::viewer {

namespace {

// The node of the best path at this step.
int node_of_step(const Exploration& shown, int step) {
    const int depth = step + 1 - static_cast<int>(shown.prompt);
    for (std::size_t node = 0; node < shown.beam.size(); ++node) {
        if (shown.beam[node].best && shown.beam[node].step == depth) {
            return static_cast<int>(node);
        }
    }
    return -1;
}

}  // namespace

int shown_step(const Scene& scene) {
    const int last = static_cast<int>(scene.main.shown->steps.size()) - 1;
    const int chosen = scene.hovered_step >= 0 ? scene.hovered_step : scene.state.step;
    return chosen < 0 ? last : std::min(chosen, last);
}

std::optional<AttentionSelection> step_selection(const Scene& scene) {
    const AttentionRecord& record = scene.main.shown->record;
    const int step = shown_step(scene);
    const bool translates = traits(family_of(scene)).reads_source;
    const AttentionKind kind = translates ? AttentionKind::Cross : shown_kind(scene);
    AttentionSelection selection = selection_of(scene, record, kind);
    if (step < 0 || !recorded(record, {kind, selection.layer - 1})) {
        return std::nullopt;
    }
    selection.rows.join_words = false;  // one column per piece, as a step writes one piece
    selection.rows.show_special = true;
    selection.positions = {static_cast<int>(scene.main.shown->steps[static_cast<std::size_t>(step)].position) + 1};
    return selection;
}

namespace {

// The step's candidates and its attention, side by side if there is room.
Drawing draw_step(const Scene& scene, const PanelOptions& options) {
    constexpr double kLeast = 24.0;
    const Exploration& shown = *scene.main.shown;
    const std::optional<AttentionSelection> selection = step_selection(scene);
    const Drawing attention =
        selection.has_value() ? draw_figure(select_attention(shown.record, *selection), figure_options(scene, options))
                              : Drawing{};
    const double gap = 2.0 * options.text_size;
    const double whole = options.width / options.text_size - 4.0;
    const double beside = whole - (attention.width + gap) / options.text_size;
    const auto candidates = [&](double width) {
        return draw_candidates(shown, shown_step(scene), {.width = std::max(width, kLeast), .look = look_of(options)});
    };
    return beside >= kLeast ? side_by_side({candidates(beside), attention}, gap, options.ink)
                            : stacked({candidates(whole), attention}, options.text_size, options.ink);
}

}  // namespace

Drawing draw_time(const Scene& scene, const PanelOptions& options) {
    const Exploration& shown = *scene.main.shown;
    if (shown.steps.empty() && traits(family_of(scene)).fills_masks) {
        return draw_remark("Click a word above to mask it: what could stand there appears here.", options);
    }
    std::vector<Drawing> parts{draw_step(scene, options)};
    if (shown.forced) {
        parts.push_back(draw_remark(fmt::format("The {} was given: there is no beam.", noun_of(scene)), options));
    } else if (!shown.beam.empty() && (shown.prompt == 0 || scene.state.continuation_beam > 1)) {
        parts.push_back(draw_beam_tree(shown.beam, {.collapse = !scene.state.show_fallen,
                                                    .chosen = node_of_step(shown, shown_step(scene)),
                                                    .look = look_of(options)}));
    }
    return stacked(std::move(parts), options.text_size, options.ink);
}

}  // namespace headscope::viewer
