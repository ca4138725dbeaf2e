// How likely a model, or an ensemble, finds translations that it is given.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "infer/translator.h"

namespace headscope {

struct ScoredPair {
    std::vector<std::int32_t> target_ids;   // with eos
    std::vector<double> log_probabilities;  // of each, after the source and the tokens before it
    double log_probability = 0.0;           // their sum
    bool unknown = false;                   // some of the target is no piece of the vocabulary, and counted as unknown
    std::string problem;                    // why there is no score; normally empty

    double nll() const { return -log_probability / static_cast<double>(target_ids.size()); }  // of a token, natural
};

// sources[i] with targets[i]. An empty target is its end alone; an empty source is a problem, as is what is too long
// for the model or no UTF-8. A pair's scores do not depend on the others, but for the rounding of sums.
std::vector<ScoredPair> score_pairs(Context& ctx, const Translator& translator, const std::vector<std::string>& sources,
                                    const std::vector<std::string>& targets, std::int64_t batch_tokens);

}  // namespace headscope
