// The results that fit what the state chooses now. Others stay in the scene until they are replaced, but are not drawn:
// a click changes the state before its results arrive.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viewer/session/scene.h"

namespace headscope::viewer {

// The current request with the output that is shown as its target; empty until that output is complete.
std::optional<ExploreRequest> found_request(const Scene& scene);

// The conversation: what the user said, and the model in turn. Empty if there is none.
std::vector<ChatMessage> said_in(const Scene& scene);
// The reply to the last message, as far as it is written; empty if there is none.
std::optional<std::string> reply_in(const Scene& scene);
// The newest reply; empty if there is none.
std::optional<std::string> last_reply_in(const Scene& scene);

// The panel that shows a view of what is behind the text and its output.
PanelId panel_with(InsideView view);
// What to ask for it; empty as long as something is missing.
std::optional<InsideRequest> inside_request(const Scene& scene, InsideView view);

// Null without a result that fits.
const Importance* shown_importance(const Scene& scene);
const NeuronView* shown_neuron(const Scene& scene);
const SeenInside* shown_inside(const Scene& scene, InsideView view);
const std::vector<WeightStatistics>* shown_weights(const Scene& scene);

}  // namespace headscope::viewer
