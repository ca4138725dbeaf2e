// The effect of edited heads on the translation, and the importance of each head.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "explore/attention_edits.h"
#include "figures/candidates.h"
#include "figures/importance_drawing.h"
#include "paint/compose.h"
#include "viewer/panels/panels.h"
#include "viewer/session/rows.h"
#include "viewer/session/shown.h"
#include "viewer/session/wording.h"

namespace headscope::viewer {

namespace {

Drawing translation_strip(const std::string& title, const Exploration& shown, const PanelOptions& options) {
    const std::string text =
        fmt::format("{}: \u201C{}\u201D, log probability {:.2f}", title, output_text(shown), shown.log_probability);
    const double width = std::max(options.width / options.text_size - 4.0, 24.0);
    return stacked(
        {draw_heading(text, options), draw_candidates(shown, -1, {.width = width, .look = look_of(options)})}, 0.0,
        options.ink);
}

std::string verdict(const Exploration& original, const Exploration& edited, const char* noun) {
    const bool same = original.translation == edited.translation;
    return fmt::format("The {} {}. The log probability changed by {:+.2f}.", noun, same ? "stays the same" : "changed",
                       edited.log_probability - original.log_probability);
}

// The translation with the edits; not the previous result while that is still shown.
std::vector<Drawing> draw_edited(const Scene& scene, const PanelOptions& options) {
    const Side& side = scene.main;
    if (!edits_answered(scene)) {
        return {draw_remark("Computing with the edits \u2026", options)};
    }
    std::vector<Drawing> parts{translation_strip("With the edits", *side.shown, options)};
    for (const AttentionEdit& edit : side.shown->without_effect) {
        parts.push_back(draw_remark(
            describe(edit, family_of(scene)) + ": no effect, because this sentence has no such token or it is masked.",
            options));
    }
    if (original_answered(scene) && side.original->finished && side.shown->finished) {
        parts.push_back(draw_remark(verdict(*side.original, *side.shown, noun_of(scene)), options));
    }
    return parts;
}

Drawing importance_part(const Scene& scene, const PanelOptions& options) {
    if (attentions_of(scene).empty()) {
        return draw_remark(missing_attention(scene, scene.main), options);
    }
    const Importance* importance = shown_importance(scene);
    if (importance != nullptr && !importance->problem.empty()) {
        return draw_remark(importance->problem, options);
    }
    if (importance != nullptr) {
        return draw_importance(*importance, {.palette = scene.state.palette, .look = look_of(options)});
    }
    return draw_remark(fmt::format("\u201CLeave each head out\u201D measures how much the {} needs every head. "
                                   "Then a click on a head switches it off.",
                                   noun_of(scene)),
                       options);
}

}  // namespace

bool edits_answered(const Scene& scene) {
    return scene.main.shown != nullptr && scene.main.answered == request_of(scene.state, *scene.main.model);
}

bool original_answered(const Scene& scene) {
    return scene.main.original != nullptr && scene.main.original->problem.empty() &&
           scene.main.answered_original == without_edits(request_of(scene.state, *scene.main.model));
}

Drawing draw_surgery(const Scene& scene, const PanelOptions& options) {
    const Side& side = scene.main;
    std::vector<Drawing> parts;
    const bool edited = !scene.state.edits.empty();
    if (original_answered(scene)) {
        parts.push_back(translation_strip(edited ? "Without the edits" : "As the model is", *side.original, options));
    }
    if (edited) {
        for (Drawing& part : draw_edited(scene, options)) {
            parts.push_back(std::move(part));
        }
    }
    parts.push_back(importance_part(scene, options));
    return stacked(std::move(parts), options.text_size, options.ink);
}

}  // namespace headscope::viewer
