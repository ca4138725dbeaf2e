// The decoding: what was written, what else could have been, and the beam.
#include <algorithm>

#include "drawing/compose.h"
#include "layout/beam_tree_drawing.h"
#include "layout/candidates.h"
#include "viewer/app/panels.h"

namespace headscope::viewer {

namespace {

// The node of the winning path that wrote this step's token.
int node_of_step(const Exploration& shown, int step) {
    for (std::size_t node = 0; node < shown.beam.size(); ++node) {
        if (shown.beam[node].best && shown.beam[node].step == step + 1) {
            return static_cast<int>(node);
        }
    }
    return -1;
}

}  // namespace

Drawing draw_time(const Scene& scene, const PanelOptions& options) {
    const Exploration& shown = *scene.main.shown;
    const int last = static_cast<int>(shown.steps.size()) - 1;
    const int step = scene.state.step < 0 ? last : std::min(scene.state.step, last);
    std::vector<Drawing> parts;
    parts.push_back(draw_candidates(
        shown, step, {.width = std::max(options.width / options.text_size - 4.0, 24.0), .look = look_of(options)}));
    if (shown.forced) {
        parts.push_back(draw_remark("The translation was given: there is no beam.", options));
    } else if (!shown.beam.empty()) {
        parts.push_back(draw_beam_tree(
            shown.beam,
            {.collapse = !scene.state.show_fallen, .chosen = node_of_step(shown, step), .look = look_of(options)}));
    }
    return stacked(std::move(parts), options.text_size, options.ink);
}

}  // namespace headscope::viewer
