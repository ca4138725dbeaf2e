// The effect of edited heads on the translation, and the importance of each head.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "explore/attention_edits.h"
#include "figures/candidates.h"
#include "figures/importance_drawing.h"
#include "paint/compose.h"
#include "viewer/panels/controls.h"
#include "viewer/panels/numbers.h"
#include "viewer/panels/parts.h"
#include "viewer/session/edits.h"
#include "viewer/session/fits.h"
#include "viewer/session/rows.h"
#include "viewer/session/shown.h"

namespace headscope::viewer {

namespace {

using nlohmann::json;

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
        const char* why = edit.kind == EditKind::Unmasked
                              ? "no effect, because no later token was there: where the model wrote one token after "
                                "the other, edit what it wrote, and it reads all of it at once."
                              : "no effect, because this sentence has no such token or it is masked.";
        parts.push_back(draw_remark(fmt::format("{}: {}", describe(edit, family_of(scene)), why), options));
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
    return draw_remark(fmt::format("\u201CMeasure head importance\u201D measures how much the {} needs every head. "
                                   "Then a click on a head switches it off.",
                                   noun_of(scene)),
                       options);
}

Drawing draw_surgery(const Scene& scene, const PanelOptions& options, RecordParts& /*parts*/) {
    const Side& side = scene.main;
    std::vector<Drawing> parts;
    const bool edited = !scene.state.edits.empty();
    if (original_answered(scene)) {
        parts.push_back(translation_strip(edited ? "Without the edits" : "Unedited", *side.original, options));
    }
    if (edited) {
        for (Drawing& part : draw_edited(scene, options)) {
            parts.push_back(std::move(part));
        }
    }
    parts.push_back(importance_part(scene, options));
    return stacked(std::move(parts), options.text_size, options.ink);
}

json surgery_numbers(const Scene& scene) {
    const Side& side = scene.main;
    json out{{"edits", edits_json(scene.state.edits)}};
    if (original_answered(scene)) {
        out["original"] = output_json(*side.original);
    }
    if (!scene.state.edits.empty() && edits_answered(scene)) {
        out["edited"] = output_json(*side.shown);
        out["without_effect"] = edits_json(side.shown->without_effect);
    }
    if (const Importance* measured = shown_importance(scene); measured != nullptr && measured->problem.empty()) {
        json& importance = out["importance"];
        importance = {
            {"log_probability", measured->log_probability}, {"finished", measured->finished}, {"heads", json::array()}};
        for (const HeadImportance& head : measured->heads) {
            json item = site_json(head.site, head.head);
            item["log_probability"] = head.log_probability;
            item["loss"] = head.loss;
            importance["heads"].push_back(item);
        }
    }
    return out;
}

// Whether the edit has no effect on this sentence.
bool is_ineffective(const Scene& scene, const AttentionEdit& edit) {
    if (scene.main.shown == nullptr || !edits_answered(scene)) {
        return false;
    }
    const auto& idle = scene.main.shown->without_effect;
    return std::find(idle.begin(), idle.end(), edit) != idle.end();
}

void edit_row(Controls& ui, std::size_t index) {
    ViewState& state = ui.state();
    const AttentionEdit& edit = state.edits[index];
    const std::string name = fmt::format("edit.{}", index);
    if (ui.small_button(name + ".remove", "\u00D7")) {
        state.edits.erase(state.edits.begin() + static_cast<std::ptrdiff_t>(index));
        return;
    }
    ui.beside();
    ui.line(name,
            describe(edit, family_of(ui.scene())) + (is_ineffective(ui.scene(), edit) ? " (no effect here)" : ""));
}

void edit_buttons(Controls& ui) {
    ViewState& state = ui.state();
    const AttentionSite site = shown_site(ui.scene());
    const int head = first_head(ui.scene());
    if (ui.button("edit.off", fmt::format("Head {} off", head), "The head's output is 0")) {
        switch_head(state, site, head);
    }
    ui.beside();
    if (ui.button("edit.uniform", "Uniform", "The head attends to all words equally")) {
        put_edit(state, {.site = site, .head = head, .kind = EditKind::Uniform});
    }
    ui.beside();
    if (ui.button("edit.pin", "Pin",
                  "The chosen word attends only to the other chosen word (choose both in the matrix)",
                  pinnable(ui.scene()))) {
        put_edit(state, pinned(ui.scene()));
    }
    if (no_causal_mask(ui.scene()).empty() &&
        ui.button("edit.unmask", "Take the mask off",
                  fmt::format("The head also attends to later words, where the {} is read at once (T)",
                              noun_of(ui.scene())))) {
        put_edit(state, {.site = site, .head = head, .kind = EditKind::Unmasked});
    }
}

void surgery_controls(Controls& ui) {
    ViewState& state = ui.state();
    if (!has_heads(ui)) {
        return;
    }
    attention_choice(ui);
    edit_buttons(ui);
    for (std::size_t index = 0; index < state.edits.size(); ++index) {
        edit_row(ui, index);
    }
    if (ui.button("edits.clear", "Clear all edits", "R", !state.edits.empty())) {
        state.edits.clear();
    }
    ui.heading("Importance");
    const bool measuring = ui.session.measuring();
    if (ui.button("importance", measuring ? "Measuring \u2026" : "Measure head importance",
                  fmt::format("How much log probability the {} loses without each head", noun_of(ui.scene())),
                  !measuring)) {
        ui.session.measure_importance();
    }
    ui.remark(
        "A head that is switched off changes what later layers read: a small loss can mean that others stood in for "
        "it. That is why importance is measured by leaving out, and not read off the weights.");
}

void surgery_events(Controls& ui, const Drawing& /*drawing*/, const PanelEvents& events) {
    const Importance* importance = shown_importance(ui.scene());
    if (importance == nullptr || !events.hovered.has_value() || events.hovered->head == 0) {
        return;
    }
    ui.point_out();
    const auto item = static_cast<std::size_t>(events.hovered->item);
    if (events.clicked && item < importance->heads.size()) {
        switch_head(ui.state(), importance->heads[item].site, importance->heads[item].head);
    }
}

}  // namespace

const Panel kSurgeryPanel{.id = PanelId::Surgery,
                          .title = "Surgery",
                          .unfit = no_attention,
                          .draw = draw_surgery,
                          .numbers = surgery_numbers,
                          .controls = surgery_controls,
                          .events = surgery_events};

}  // namespace headscope::viewer
