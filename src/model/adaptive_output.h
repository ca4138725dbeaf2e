// Adaptive softmax: an output whose cost per word falls with the word's frequency. Grave et al., "Efficient softmax
// approximation for GPUs", 2017; the form of torch.nn.AdaptiveLogSoftmaxWithLoss.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/model.h"
#include "model/scope.h"

namespace headscope {

// The head's softmax is over the ids below the first cutoff and one class for each cluster. A cluster's softmax is over
// its ids, of states projected to d_model / factor^i numbers, i from 1. log P(word) is the head's, plus the cluster's.
class AdaptiveOutput {
public:
    // scale: of all logits.
    AdaptiveOutput(const ModelConfig& config, const Scope& scope, float scale);

    // hidden [batch, length, d_model]; result [batch, length, vocabulary]: its softmax has the exact probability of
    // every word. All clusters are evaluated. Records no tape.
    Var logits(Context& ctx, const Var& hidden) const;
    // The most words that likeliest() can rank.
    std::int64_t most_ranked() const;
    // What LogSoftmaxTopK finds in logits(), but for rounding: log-probabilities and tokens I32 [rows, k], k at most
    // most_ranked(). No word is likelier than its cluster, so a row evaluates a cluster only if that is likelier than
    // the k-th best word found so far. Returns how many rows evaluated a cluster, of all clusters together. Reads from
    // the device and writes to it: not for Backend::replay(). Records no tape.
    std::int64_t likeliest(Context& ctx, const Var& hidden, const Tensor& log_probabilities,
                           const Tensor& tokens) const;
    // A cluster is evaluated for its targets only. The loss of a target in a cluster is the sum of both, each smoothed
    // over its own classes.
    // `targets` is Batch::adaptive.
    LossSums loss(Context& ctx, const Var& hidden, std::span<const DeviceGather> targets,
                  const LossOptions& options) const;

private:
    struct Cluster {
        Var project;  // [width, d_model]
        Var weight;   // [ids, width]
    };

    // hidden [batch, length, d_model]; result [batch, length, ids].
    Var cluster_logits(Context& ctx, const Cluster& cluster, const Var& hidden) const;

    std::int64_t vocabulary_;
    float scale_;
    Var head_;  // [first cutoff + clusters, d_model]
    std::vector<Cluster> clusters_;
};

}  // namespace headscope
