#include "viewer/session/shown.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "explore/explorer.h"
#include "model/family.h"
#include "text/normalised.h"
#include "viewer/session/rows.h"
#include "viewer/session/wording.h"

namespace headscope::viewer {

std::optional<std::string> reply_in(const Scene& scene) {
    const ViewState& state = scene.state;
    if (scene.growing_reply != nullptr) {
        return *scene.growing_reply;
    }
    if (state.target.has_value() || state.conversation.reply.has_value()) {
        return state.target.has_value() ? state.target : state.conversation.reply;
    }
    const Side& side = scene.main;  // what the search has written so far
    const bool found = side.model.has_value() && side.shown != nullptr && side.shown->problem.empty() &&
                       side.answered == request_of(scene, side);
    return found ? std::optional(output_text(*side.shown)) : std::nullopt;
}

std::vector<ChatMessage> said_in(const Scene& scene) {
    const ViewState& state = scene.state;
    if (!state.chat) {
        return {};
    }
    std::vector<ChatMessage> said = state.conversation.said;
    if (!is_empty_text(state.text)) {
        said.push_back({ChatRole::User, state.text});
        if (std::optional<std::string> reply = reply_in(scene)) {
            said.push_back({ChatRole::Assistant, std::move(*reply)});
        }
    }
    return said;
}

std::optional<std::string> last_reply_in(const Scene& scene) {
    for (const ChatMessage& message : said_in(scene) | std::views::reverse) {
        if (message.role == ChatRole::Assistant && !message.content.empty()) {
            return message.content;
        }
    }
    return std::nullopt;
}

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
        case InsideView::Vectors: return PanelId::Vectors;
    }
    return PanelId::Saliency;
}

namespace {

// Needs no output.
std::optional<InsideRequest> vectors_request(const Scene& scene) {
    const ViewState& state = scene.state;
    if (!scene.main.model.has_value() || is_empty_text(state.text)) {
        return std::nullopt;
    }
    const Opened& model = *scene.main.model;
    const ExploreRequest text = request_of(scene, scene.main);
    return InsideRequest{.view = InsideView::Vectors,
                         .explore = {.source = text.source, .search = text.search},
                         .from = state.second.empty() ? "" : text_for(model, state.second),
                         .vectors = {.unit = state.join_words ? VectorUnit::Word : VectorUnit::Piece,
                                     .layer = std::min(shown_layer(state, last_vector_layer(model.config)),
                                                       last_vector_layer(model.config)),
                                     .edits = state.edits}};
}

}  // namespace

std::optional<InsideRequest> inside_request(const Scene& scene, InsideView view) {
    if (view == InsideView::Vectors) {
        return vectors_request(scene);
    }
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
