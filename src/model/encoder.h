// 3.1: the stack that encodes the source.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/attention.h"
#include "model/embedding.h"
#include "model/feed_forward.h"

namespace headscope {

class Encoder {
public:
    Encoder(const ModelConfig& config, const Scope& scope, const Var& table, std::shared_ptr<Sinusoids> sinusoids,
            DropoutSites& sites);
    // ids I32 [batch, length], lengths I32 [batch]; result [batch, length, d_model].
    Var operator()(Context& ctx, const Tensor& ids, const Tensor& lengths, const Tensor& order) const;

private:
    struct Layer {
        std::string label;
        MultiHeadAttention self_attention;
        FeedForward feed_forward;
    };
    Embedding embedding_;
    Residuals residuals_;  // two sub-layers in each layer
    std::vector<Layer> layers_;
};

}  // namespace headscope
