// Everything that the panels draw: the state and the results so far. Knows neither backends nor windows.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eval/experiment_table.h"
#include "eval/training_log.h"
#include "explore/exploration.h"
#include "viewer/session/state.h"
#include "viewer/session/worker.h"

namespace headscope::viewer {

// A model and its results for the sentence; a comparison has two.
struct Side {
    std::optional<Opened> model = {};
    std::shared_ptr<const Exploration> shown = {};     // with the edits
    std::shared_ptr<const Exploration> original = {};  // without them; the same object if there are none
    bool busy = false;
    std::string problem = {};  // why there is nothing to show

    // The requests of `shown` and `original`, which stay until the first result of a new request.
    std::optional<ExploreRequest> answered = {};
    std::optional<ExploreRequest> answered_original = {};
    // That with too many weights to keep those of all layers at once.
    std::optional<ExploreRequest> too_long = {};
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
    // Results say what they are of; shown.h has those that fit the state, which are the only ones to draw.
    std::shared_ptr<const MeasuredHeads> importance = {};
    std::shared_ptr<const SeenNeuron> neuron = {};
    std::array<std::shared_ptr<const SeenInside>, kInsideViews> inside = {};  // by InsideView
    std::shared_ptr<const BlockWeights> weights = {};
    std::shared_ptr<const TrainingRun> run = {};             // null for a model directory
    std::shared_ptr<const ExperimentTable> experiment = {};  // that the training is a trial of
    std::shared_ptr<const std::string> growing_reply = {};   // of the conversation; null if none grows
    int hovered_word = -1;                     // the column under the pointer, which overrides the selected one
    int hovered_step = -1;                     // the step of the decoding under the pointer, likewise
    std::int64_t most_weights = kMostWeights;  // that are kept at once, see ExploreRequest
};

// Why a side has no result, other than that one is awaited; empty if it has one.
inline std::string why_empty(const Side& side) {
    return side.shown == nullptr ? side.problem : side.shown->problem;
}

// What a side's model has to compute for this state.
ExploreRequest request_of(const Scene& scene, const Side& side);
// A text as the model reads it: a parser reads the words of a treebank.
std::string text_for(const Opened& model, const std::string& text);
// The sentences of the state's text, of which the request has one, until the next call; null if the model reads any
// text whole.
const PartsOfText* parts_of(const ViewState& state, const Opened& model);
int shown_sentence(const ViewState& state, const PartsOfText& parts);

// Of the open model; a translation model's until there is one.
inline Architecture family_of(const Scene& scene) {
    return scene.main.model.has_value() ? scene.main.model->config.architecture : Architecture();
}

// What a model reads: the words for it depend on this.
struct Reading {
    Architecture family{};
    bool pictures = false;  // in place of texts, of which the state's text is the name of a file
    Reading(Architecture of_texts = {}) : family(of_texts) {}
    explicit Reading(const ModelConfig& config) : family(config.architecture), pictures(config.input.patches()) {}
    bool operator==(const Reading&) const = default;
};
inline Reading reading_of(const Scene& scene) {
    return scene.main.model.has_value() ? Reading(scene.main.model->config) : Reading();
}

}  // namespace headscope::viewer
