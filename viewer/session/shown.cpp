#include "viewer/session/shown.h"

#include "explore/explorer.h"
#include "viewer/session/rows.h"

namespace headscope::viewer {

std::optional<ExploreRequest> found_request(const Scene& scene) {
    const Side& side = scene.main;
    if (!side.model.has_value() || side.shown == nullptr || !side.shown->finished || !side.answered.has_value() ||
        *side.answered != request_of(scene.state, *side.model)) {
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

const std::vector<WeightStatistics>* shown_weights(const Scene& scene) {
    const BlockWeights* found = scene.weights.get();
    const bool fits = found != nullptr && !found->block.empty() && found->block == scene.state.block;
    return fits ? &found->statistics : nullptr;
}

}  // namespace headscope::viewer
