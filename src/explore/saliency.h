// How much each predicted token's probability depends on the embedding of each token that the model reads: gradients,
// without a change of the model.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explore/exploration.h"
#include "infer/loaded_model.h"

namespace headscope {

// The gradients of log P of the predicted tokens with respect to the token embeddings that a stack reads, the values at
// the site embedding.tokens (model/sites.h), without padding.
struct EmbeddingGradients {
    std::int64_t tokens = 0, columns = 0;
    std::vector<float> embeddings = {};  // [tokens, columns]
    std::vector<float> gradients = {};   // [predictions, tokens, columns]
    // The sum over columns of gradient times embedding: [predictions, tokens].
    std::vector<double> products() const;
};

struct Saliency {
    std::vector<RecordedToken> source = {};    // that the encoder reads; none of a language model
    std::vector<RecordedToken> target = {};    // that the decoder reads, or a language model
    std::vector<std::int32_t> predicted = {};  // the tokens whose probability counts
    std::vector<std::string> predicted_texts = {};
    EmbeddingGradients of_source = {}, of_target = {};
    std::string problem = {};  // the error, if any, with its remedy: then there is nothing else
};

// 1 step: the gradients at the embeddings. More: their mean on the way from embeddings of 0, at the middles of `steps`
// equal parts ("integrated gradients", Sundararajan et al. 2017), whose products add up to the change in log P.
// The request has a target, or masks that the model fills itself. Rows of weights that its edits change are constants.
// Ends early if `goes_on`, which is called before each pass, returns false.
Saliency measure_saliency(Backend& backend, const LoadedModel& models, Compute compute, const ExploreRequest& request,
                          int steps = 1, const std::function<bool()>& goes_on = {});

}  // namespace headscope
