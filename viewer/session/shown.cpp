#include "viewer/session/shown.h"

#include <utility>

#include "explore/explorer.h"
#include "model/family.h"
#include "viewer/session/rows.h"

namespace headscope::viewer {

std::optional<ExploreRequest> found_request(const Scene& scene) {
    const Side& side = scene.main;
    if (!side.model.has_value() || side.shown == nullptr || !side.shown->finished || !side.answered.has_value() ||
        *side.answered != request_of(scene, side)) {
        return std::nullopt;
    }
    return with_target(*side.answered, *side.shown);
}

const Importance* shown_importance(const Scene& scene) {
    const MeasuredHeads* found = scene.importance.get();
    return found != nullptr && found_request(scene) == found->of ? found : nullptr;
}

const NeuronView* shown_neuron(const Scene& scene) {
    const SeenNeuron* found = scene.neuron.get();
    const bool fits = found != nullptr && scene.state.word >= 0 && scene.state.matrix == MatrixView::Head &&
                      found->site == shown_site(scene) && found->head == first_head(scene) &&
                      found_request(scene) == found->of;
    return fits ? found : nullptr;
}

PanelId panel_with(InsideView view) {
    switch (view) {
        case InsideView::Saliency: return PanelId::Saliency;
        case InsideView::Lens: return PanelId::Lens;
        case InsideView::Patching: return PanelId::Patching;
    }
    return PanelId::Saliency;
}

std::optional<InsideRequest> inside_request(const Scene& scene, InsideView view) {
    std::optional<ExploreRequest> found = found_request(scene);
    const bool patches = view == InsideView::Patching;
    if (!found.has_value() || (patches && scene.state.second.empty())) {
        return std::nullopt;
    }
    InsideRequest request{.view = view, .explore = std::move(*found)};
    if (patches) {
        const bool decodes = traits(family_of(scene)).continues_text;
        request.from = text_for(*scene.main.model, scene.state.second);
        request.sites = decodes ? "decoder.*.residual_out" : "encoder.*.residual_out";
    }
    return request;
}

const SeenInside* shown_inside(const Scene& scene, InsideView view) {
    const SeenInside* found = scene.inside[index_of(view)].get();
    return found != nullptr && inside_request(scene, view) == found->of ? found : nullptr;
}

const std::vector<WeightStatistics>* shown_weights(const Scene& scene) {
    const BlockWeights* found = scene.weights.get();
    const bool fits = found != nullptr && !found->block.empty() && found->block == scene.state.block;
    return fits ? &found->statistics : nullptr;
}

}  // namespace headscope::viewer
