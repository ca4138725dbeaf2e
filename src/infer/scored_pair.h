// Scores given translations or texts with a model or an ensemble.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "infer/loaded_model.h"

namespace headscope {

struct ScoredPair {
    // The scored tokens: the pieces and eos. A masked language model has no eos, and a piece that all texts of a model
    // start with is not scored.
    std::vector<std::int32_t> target_ids;
    std::vector<double> log_probabilities;  // of each token, given what the model sees (teacher_forced.h)
    double log_probability = 0.0;           // their sum
    bool empty = false;                     // the target has no pieces
    bool unknown = false;                   // part of the target is not in the vocabulary and was scored as unknown
    std::string problem;                    // why there is no score; normally empty

    double nll() const { return -log_probability / static_cast<double>(target_ids.size()); }  // per token, in nats
};

// Scores sources[i] with targets[i]. Language models score targets[i] only, see force_texts(). An empty target consists
// of eos only. An empty source, a language that is missing or unknown, a target without tokens, a text too long for the
// model and invalid UTF-8 are problems. Scores do not depend on the other pairs, except for rounding.
std::vector<ScoredPair> score_pairs(Context& ctx, const LoadedModel& translator,
                                    const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                                    std::int64_t batch_tokens, const Languages& languages = {});

}  // namespace headscope
