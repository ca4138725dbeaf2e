// Everything that the panels draw from: what was asked, and what is known of the answer by now. No backend, no window.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eval/training_log.h"
#include "explore/exploration.h"
#include "viewer/session/state.h"
#include "viewer/session/worker.h"

namespace headscope::viewer {

// One side of what is shown: a model and what it did with the sentence.
struct Side {
    std::optional<Opened> model = {};
    std::shared_ptr<const Exploration> shown = {};     // with the edits
    std::shared_ptr<const Exploration> original = {};  // without them; the same object where there are none
    bool busy = false;
    std::string problem = {};  // why there is nothing

    // What `shown` and `original` are of: until the first answer to a new request they stay what they were.
    std::optional<ExploreRequest> answered = {};
    std::optional<ExploreRequest> answered_original = {};
    void forget_answers() {
        shown = original = nullptr;
        answered.reset();
        answered_original.reset();
    }
};

struct Scene {
    ViewState state;
    Side main = {};
    std::optional<Side> other = {};  // of the comparison
    std::shared_ptr<const Importance> importance = {};
    std::shared_ptr<const NeuronView> neuron = {};
    std::shared_ptr<const TrainingRun> run = {};                        // of a training directory
    std::shared_ptr<const std::vector<WeightStatistics>> weights = {};  // of the block that is chosen
    int hovered_word = -1;  // the column under the pointer, which counts before the chosen one
};

}  // namespace headscope::viewer
