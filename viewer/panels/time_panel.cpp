// The decoding: the pieces written, their alternatives, and the beam.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "figures/beam_tree_drawing.h"
#include "figures/candidates.h"
#include "model/family.h"
#include "paint/compose.h"
#include "viewer/panels/controls.h"
#include "viewer/panels/numbers.h"
#include "viewer/panels/parts.h"
#include "viewer/session/masking.h"
#include "viewer/session/rows.h"

namespace headscope::viewer {

namespace {

using nlohmann::json;

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

// The step's candidates and its attention, side by side if there is room.
Drawing draw_step(const Scene& scene, const PanelOptions& options) {
    constexpr double kLeast = 24.0;
    const Exploration& shown = *scene.main.shown;
    const std::optional<AttentionSelection> selection = step_selection(scene);
    const Drawing attention =
        selection.has_value()
            ? draw_selected(scene, scene.main, select_attention(shown.record, *selection), selection->kind, options)
            : Drawing{};
    const double gap = 2.0 * options.text_size;
    const double whole = options.width / options.text_size - 4.0;
    const double beside = whole - (attention.width + gap) / options.text_size;
    const auto candidates = [&](double width) {
        return draw_candidates(shown, chosen_step(scene),
                               {.width = std::max(width, kLeast), .gaps = shows_gaps(scene), .look = look_of(options)});
    };
    return beside >= kLeast ? side_by_side({candidates(beside), attention}, gap, options.ink)
                            : stacked({candidates(whole), attention}, options.text_size, options.ink);
}

Drawing draw_time(const Scene& scene, const PanelOptions& options, RecordParts& /*parts*/) {
    const Exploration& shown = *scene.main.shown;
    if (shown.steps.empty() && traits(family_of(scene)).fills_masks) {
        return draw_remark("Click a word above to mask it: what could stand there appears here.", options);
    }
    std::vector<Drawing> parts{draw_step(scene, options)};
    if (!traits(family_of(scene)).writes_pieces) {
        return std::move(parts.front());
    }
    if (shown.forced) {
        parts.push_back(draw_remark(fmt::format("The {} was given: there is no beam.", noun_of(scene)), options));
    } else if (!shown.beam.empty() && (shown.prompt == 0 || scene.state.continuation_beam > 1)) {
        parts.push_back(draw_beam_tree(shown.beam, {.collapse = !scene.state.show_fallen,
                                                    .chosen = node_of_step(shown, shown_step(scene)),
                                                    .look = look_of(options)}));
    }
    return stacked(std::move(parts), options.text_size, options.ink);
}

const char* name_of(BeamNode::Fate fate) {
    switch (fate) {
        case BeamNode::Fate::Open: return "open";
        case BeamNode::Fate::Finished: return "finished";
        case BeamNode::Fate::Fell: return "fell";
        case BeamNode::Fate::Stopped: return "stopped";
        case BeamNode::Fate::Cut: return "cut";
    }
    return "";
}

json time_numbers(const Scene& scene) {
    const Exploration& shown = *scene.main.shown;
    json out = output_json(shown);
    for (const ExploredStep& gap : shown.gaps) {
        json& candidates = out["masks"].emplace_back(json::array());
        for (const NextCandidate& candidate : gap.candidates) {
            candidates.push_back({{"word", candidate.text.substr(candidate.text.starts_with(' ') ? 1 : 0)},
                                  {"probability", std::exp(candidate.log_probability)},
                                  {"log_probability", candidate.log_probability}});
        }
    }
    out["beam"] = json::array();
    for (const BeamNode& node : shown.beam) {
        out["beam"].push_back({{"parent", node.parent},
                               {"step", node.step},
                               {"token", node.token},
                               {"text", node.text},
                               {"log_probability", node.log_probability},
                               {"score", node.score},
                               {"fate", name_of(node.fate)},
                               {"best", node.best},
                               {"reason", node.reason}});
    }
    return out;
}

void time_controls(Controls& ui) {
    ViewState& state = ui.state();
    if (!traits(family_of(ui.scene())).writes_pieces) {  // there is one step
        if (shows_patches(ui.scene())) {
            attention_choice(ui);
        }
        ui.remark(wording(ui.scene()).steps_remark);
        return;
    }
    const int steps = count_of_steps(ui.scene());
    const bool masks = traits(family_of(ui.scene())).fills_masks;
    const bool gaps = shows_gaps(ui.scene());
    ui.heading(masks ? "Mask" : gaps ? "Gap" : "Step");
    int step = chosen_step(ui.scene()) + 1;
    bool moved = ui.stepper("step", fmt::format("{} of {}", step, steps), step, 1, std::max(steps, 1));
    moved = (steps > 1 && ui.scrubber("scrubber", step, 1, steps)) || moved;
    if (moved) {
        state.step = step - 1;
        ui.playing = false;
    }
    if (!masks && ui.button("play", ui.playing ? "Stop" : "Play", "Space", steps > 0)) {
        ui.run("time.play");
    }
    const auto& shown = ui.scene().main.shown;
    if (shown != nullptr && !shown->gaps.empty() &&
        ui.toggle("by_piece", "Piece by piece", state.by_piece,
                  "What was written, token by token, with other tokens")) {
        state.step = -1;  // which counts something else
    }
    search_controls(ui);
    if (!masks) {
        ui.toggle("fallen", "Show pruned hypotheses", state.show_fallen);
    }
    ui.remark(gaps ? "What may stand in each gap, by the best outputs of the beam: a wider one finds more. Click a bar "
                     "to put it in; Ctrl+Z brings the gap back."
                   : wording(ui.scene()).steps_remark);
}

// A bar of a mask's candidates or a gap's fills it in.
void choose_candidate(Controls& ui, int item) {
    const int mask = chosen_step(ui.scene());
    const std::vector<Filling> words = fillings(ui.scene(), mask);
    if (item < std::ssize(words)) {
        fill_mask(ui.state(), mask, words[static_cast<std::size_t>(item)], shows_gaps(ui.scene()));
    }
}

// The gap that the output fills at this step of the decoding: the last whose sentinel was written before, or the first.
int gap_at(const Exploration& shown, int step) {
    int found = 0;
    for (int gap = 0; gap < std::ssize(shown.gaps); ++gap) {
        const auto begin_of = [&](int one) { return shown.gaps[static_cast<std::size_t>(one)].position; };
        found = begin_of(gap) >= 0 && begin_of(gap) <= step && begin_of(gap) >= begin_of(found) ? gap : found;
    }
    return found;
}

void time_events(Controls& ui, const Drawing& /*drawing*/, const PanelEvents& events) {
    if (!events.clicked || !events.over_item()) {
        return;
    }
    const auto& shown = ui.scene().main.shown;
    const int item = events.hovered->item;
    if (events.hovered->role == Role::Cell) {
        ui.state().step = item;
    } else if (events.hovered->role == Role::Bar &&
               (traits(family_of(ui.scene())).fills_masks || shows_gaps(ui.scene()))) {
        choose_candidate(ui, item);
    } else if (events.hovered->role == Role::Node && shown != nullptr && item < std::ssize(shown->beam)) {
        const int depth = shown->beam[static_cast<std::size_t>(item)].step;
        const int step = static_cast<int>(shown->prompt) + std::max(depth - 1, 0);
        ui.state().step = shows_gaps(ui.scene()) ? gap_at(*shown, step) : step;
    }
    ui.playing = false;
}

}  // namespace

const Panel kTimePanel{.id = PanelId::Time,
                       .title = "Time",
                       .family_title = &Wording::steps_title,
                       .unfit = no_single_pass,
                       .draw = draw_time,
                       .numbers = time_numbers,
                       .contents = step_contents,
                       .pointable = {Role::Cell, Role::Bar, Role::Node, Role::Attention, Role::Slab, Role::Swatch},
                       .controls = time_controls,
                       .events = time_events};

}  // namespace headscope::viewer
