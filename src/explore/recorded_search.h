// Beam search over one sentence or prompt that records attention, candidates and the search tree.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "explore/beam_tree.h"
#include "explore/checked_request.h"
#include "explore/editing_observer.h"
#include "explore/exploration.h"
#include "infer/loaded_model.h"
#include "infer/model_scorer.h"
#include "model/family.h"
#include "observe/decoding_recorder.h"

namespace headscope {

class RecordedSearch {
public:
    // Runs the encoder. The request must have no problem and no target. All arguments must outlive this object.
    RecordedSearch(Backend& backend, const LoadedModel& translator, Compute compute, const CheckedRequest& request);

    bool done() const { return beam_.done(); }
    // Adds one token to each hypothesis.
    void step();
    // The best hypothesis so far; needs at least one step. Copies all recorded weights. Of a causal language model only
    // the tree and its scores: a pass over best() gives the rest.
    Exploration snapshot() const;
    std::vector<std::int32_t> best() const;  // its tokens

private:
    using Clock = std::chrono::steady_clock;
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    bool records() const { return traits(model_.config.architecture).reads_source; }
    ExploredStep explored(std::size_t node) const;
    std::vector<ExploredStep> gaps(const std::vector<ExploredStep>& best) const;

    const Clock::time_point start_ = Clock::now();
    Backend& backend_;
    const ModelDirectory& model_;
    const CheckedRequest& request_;
    SearchTask task_;
    TokenRules rules_;
    WeightCollector collector_;
    EditingObserver observer_;
    Context ctx_;
    ModelScorer scorer_;
    DecodingRecorder recorder_;
    SentenceBeam beam_;
    BeamTree tree_;
    int k_ = 0;
    std::vector<std::int32_t> tokens_, parents_;  // of the next step
    std::vector<NextTokens> nexts_;               // of each step
    double seconds_to_first_ = 0.0;
};

}  // namespace headscope
