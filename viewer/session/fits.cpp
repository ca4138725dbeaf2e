#include "viewer/session/fits.h"

#include <algorithm>
#include <array>

#include "viewer/session/rows.h"

namespace headscope::viewer {

namespace {

std::string no_trees(const Scene& scene) {
    const auto& model = scene.main.model;
    return model.has_value() && model->terminals.has_value() ? "" : kWritesNoTrees;
}

}  // namespace

std::string no_attention(const Scene& scene) {
    return attentions_of(scene).empty() ? kMixesOtherwise : no_single_pass(scene);
}

std::string no_single_pass(const Scene& scene) {
    const auto& model = scene.main.model;
    return model.has_value() && model->config.generation == Generation::MaskPredict
               ? "This model fills in masks in turns: there is no single pass to look into."
               : "";
}

std::string unfit(const Scene& scene, PanelId panel) {
    switch (panel) {
        case PanelId::Figure:
        case PanelId::Heads:
        case PanelId::Matrix:
        case PanelId::Surgery:
        case PanelId::Find: return no_attention(scene);
        case PanelId::Time:
        case PanelId::Compare:
        case PanelId::Saliency:
        case PanelId::Lens:
        case PanelId::Patching: return no_single_pass(scene);
        case PanelId::Tree: return no_trees(scene);
        case PanelId::Model:
        case PanelId::Training: break;
    }
    return "";
}

PanelId fitting_panel(const Scene& scene) {
    const std::array panels{scene.state.panel, PanelId::Figure, PanelId::Time, PanelId::Model};
    return *std::ranges::find_if(panels, [&](PanelId panel) { return unfit(scene, panel).empty(); });
}

}  // namespace headscope::viewer
