// The cache of the panels' drawings.
#include <algorithm>
#include <utility>

#include "support/check.h"
#include "viewer/panels/panel_drawing.h"
#include "viewer/panels/parts.h"

namespace headscope::viewer {

namespace {

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
    const Panel& row = panel_of(panel);
    Key key{.state = scene.state, .options = options};
    key.state.panel = PanelId::Figure;
    if (row.forget_unseen != nullptr) {
        row.forget_unseen(scene, key.state);
    }
    if (row.follows_pointer) {
        key.hovered = {scene.hovered_word, scene.hovered_step};
    }
    key.parts = {scene.main.shown.get(),   scene.main.original.get(),
                 scene.importance.get(),   scene.neuron.get(),
                 scene.run.get(),          scene.experiment.get(),
                 scene.weights.get(),      scene.other.has_value() ? scene.other->shown.get() : nullptr,
                 scene.inside[0].get(),    scene.inside[1].get(),
                 scene.inside[2].get(),    scene.inside[3].get(),
                 scene.growing_reply.get()};
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

std::string PanelPictures::caption(const Scene& scene, PanelId panel) {
    const Panel& row = panel_of(panel);
    return row.caption != nullptr && row.missing(scene).empty() ? row.caption(scene, parts_) : "";
}

const std::vector<SelectedAttention>* PanelPictures::contents_of(PanelId panel, const Mark& mark) {
    Pictures& pictures = pictures_[static_cast<std::size_t>(panel)];
    std::optional<Kept>& kept = pictures.kept[pictures.shown];
    // Words have no tip: pointing along them must not compute the weights again.
    const bool word = mark.role == Role::QueryLabel || mark.role == Role::KeyLabel || mark.role == Role::ChosenWord;
    if (!mark.tip.empty() || !kept.has_value() || word) {
        return nullptr;
    }
    if (!kept->contents.has_value()) {
        kept->contents = contents_or_none(kept->parts, panel);
    }
    return &*kept->contents;
}

std::string PanelPictures::tip(PanelId panel, const Mark& mark) {
    const std::vector<SelectedAttention>* contents = contents_of(panel, mark);
    return contents == nullptr ? mark.tip : panel_tip(*contents, mark);
}

std::vector<HeadWeight> PanelPictures::bars(PanelId panel, const Mark& mark) {
    const std::vector<SelectedAttention>* contents = contents_of(panel, mark);
    return contents == nullptr ? std::vector<HeadWeight>{} : panel_bars(*contents, mark);
}

}  // namespace headscope::viewer
