// Scores given translations or texts with a model or an ensemble.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "infer/loaded_model.h"
#include "infer/teacher_forced.h"

namespace headscope {

struct ScoredPair {
    // The scored tokens: the pieces and eos. A masked language model has no eos, and a piece that all texts of a model
    // start with is not scored.
    std::vector<std::int32_t> target_ids;
    std::vector<double> log_probabilities;  // of each token, given what the model sees (teacher_forced.h)
    double log_probability = 0.0;           // their sum
    std::vector<std::vector<TokenChance>> alternatives = {};  // the likeliest tokens instead of each, if wanted
    bool empty = false;                                       // the target has no pieces
    bool unknown = false;  // part of the target is not in the vocabulary and was scored as unknown
    std::string problem;   // why there is no score; normally empty

    double nll() const { return -log_probability / static_cast<double>(target_ids.size()); }  // per token, in nats
};

// Scores sources[i] with targets[i]. Language models score targets[i] only, see force_texts(). An empty target consists
// of eos only. An empty source, a language that is missing or unknown, a target without tokens, a text too long for the
// model and invalid UTF-8 are problems. Scores do not depend on the other pairs, except for rounding.
// A step is one batch. `alternatives`: as ForcedLimits::alternatives. Context and model outlive the session.
class ScoreSession final : public WorkSession {
public:
    ScoreSession(Context& ctx, const LoadedModel& translator, const std::vector<std::string>& sources,
                 const std::vector<std::string>& targets, std::int64_t batch_tokens, const Languages& languages = {},
                 int alternatives = 0);

    bool step() override { return forced_->step(); }
    std::int64_t tokens() const override { return forced_->tokens(); }
    std::vector<ScoredPair> take();  // once no step is left

private:
    void add(const LoadedModel& translator, const std::string& source, const std::string& target,
             const Languages& languages, ScoredPair& scored);

    std::vector<ScoredPair> scored_;
    std::vector<std::size_t> places_;               // of those without a problem
    std::vector<Example> pairs_;                    // of a translation model
    std::vector<std::vector<std::int32_t>> texts_;  // of a language model
    std::unique_ptr<ForcedSession> forced_;
};

}  // namespace headscope
