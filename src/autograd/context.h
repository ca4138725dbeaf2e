// What travels with a pass through the model; there is no global state.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "autograd/tape.h"
#include "backend/attention_mask.h"
#include "backend/backend.h"

namespace headscope {

// One attention of the model. Layers count from 0 in code; figures count from 1.
enum class AttentionKind : std::uint8_t { EncoderSelf, DecoderSelf, Cross };
struct AttentionSite {
    AttentionKind kind = AttentionKind::EncoderSelf;
    int layer = 0;
    bool operator==(const AttentionSite&) const = default;
};

// What an observer gets of one attention, all of it on the device.
struct AttentionView {
    AttentionSite site;
    Tensor weights;  // [batch, heads, queries, keys], before dropout
    Tensor queries;  // [batch, heads, queries, d_k]; the weights are made of them
    Tensor keys;     // [batch, groups, keys, d_k], see Attention
    AttentionMask mask;
    float scale = 1.0F;  // of the products of queries and keys
    Tensor by_distance;  // MaskedSoftmax::by_distance; may be undefined
};

// Reads attention weights and may replace them, before dropout and before the product with V.
class AttentionObserver {
public:
    virtual ~AttentionObserver() = default;
    // The weights are materialised for the observer only where this is true.
    virtual bool wants(const AttentionSite& site) const = 0;
    // Returns the weights to use: those of `view`, or others of their shape.
    virtual Tensor observe(Backend& backend, const AttentionView& view) = 0;
    // The backward pass of observe(), if it changed the weights in place: sets their gradient to 0 where they do not
    // depend on the scores any more.
    virtual void observe_gradient(Backend& /*backend*/, const AttentionView& /*view*/, const Tensor& /*gradient*/) {}
};

// Dropout of a training pass (paper 5.4): all rates 0 when `step` is not defined.
struct Regularisation {
    float residual = 0.0F;    // each sub-layer's output before it is added
    float embedding = 0.0F;   // the sums of embedding and position
    float attention = 0.0F;   // the attention weights
    float activation = 0.0F;  // after the feed-forward's non-linearity
    std::uint32_t seed = 0;
    Tensor step = {};      // I32 [1]
    Tensor ordinals = {};  // I32 [batch]
    // Of a mixture of experts: the weight of the loss that balances them, and what scales its gradient, as
    // SmoothedCrossEntropy::grad_scale.
    float expert_balance = 0.0F;
    Tensor gradient_scale = {};  // [1]; undefined: 1
};

class Hooks;

struct Context {
    Backend& backend;
    Tape* tape = nullptr;  // null: inference
    Regularisation regularisation = {};
    AttentionObserver* observer = nullptr;
    Hooks* hooks = nullptr;          // reads and replaces values at sites; null: none
    Compute compute = Compute::F32;  // of products, see Matmul::compute
    // Called with the part that runs now ("encoder.0.self_attention"), for traces and NaN messages; may be empty.
    std::function<void(const std::string&)> label = {};
};

}  // namespace headscope
