// 3.4 and 5.4: from hidden states to logits, and the loss of a batch without storing all of its logits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/adaptive_output.h"
#include "model/embedding.h"
#include "model/model.h"

namespace headscope {

class Projection {
public:
    Projection(const ModelConfig& config, const Scope& model, const EmbeddingTable& table);

    // What the head does before the logits: hidden and the result [batch, length, d_model].
    Var transform(Context& ctx, const Var& hidden) const;

    // Allocates what logits() reads beside the parameters, see Model::prepare().
    void prepare(Backend& backend) const;
    // hidden [batch, length, d_model], transformed; result [batch, length, vocabulary]. Without a tape they are divided
    // by OutputConfig::temperature, and those of FrameConfig::suppressed_ids are so low that their probabilities are 0.
    Var logits(Context& ctx, const Var& hidden) const;

    // Whether likeliest() finds the k likeliest tokens and is faster than logits(): an adaptive output on the CPU.
    // Other devices would wait for the host after the head and each cluster.
    bool ranks_clusters(const Backend& backend, std::int64_t k) const;
    // AdaptiveOutput::likeliest() of hidden [batch, length, d_model], transformed.
    void likeliest(Context& ctx, const Var& hidden, const Tensor& log_probabilities, const Tensor& tokens) const;

    // hidden [batch, length, d_model], transformed, with a class for each state; `adaptive` the same for an
    // adaptive output, needed with a tape. With a tape the gradients of hidden and of the weights are computed here.
    LossSums loss(Context& ctx, const Var& hidden, const DeviceGather& predicted, const LossOptions& options,
                  std::span<const DeviceGather> adaptive) const;

private:
    Var used_bias(Context& ctx) const;

    Activation activation_;
    float scale_;                            // of the logits
    float coldness_;                         // 1 / temperature: what they are multiplied by when the model is used
    Var transform_weight_, transform_bias_;  // [d_model, d_model], [d_model]; undefined without a transform
    std::optional<LayerNorm> norm_;
    std::optional<AdaptiveOutput> adaptive_;  // instead of the next two
    Var weight_;                              // [vocabulary, d_model]
    Var bias_;                                // [vocabulary], may be undefined
    std::int64_t vocabulary_;
    std::vector<std::int32_t> suppressed_;
    std::shared_ptr<Tensor> suppression_ = std::make_shared<Tensor>();  // [vocabulary], as a bias; made when needed
};

}  // namespace headscope
