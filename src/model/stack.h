// 3.1: a stack of equal layers on an embedding: the encoder, the decoder, or all of a language model.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/attention.h"
#include "model/cache.h"
#include "model/embedding.h"
#include "model/feed_forward.h"
#include "model/mixer.h"
#include "model/position_tables.h"
#include "model/relative_positions.h"

namespace headscope {

// What distinguishes the stacks of a model.
struct StackPlan {
    int layers = 0;
    AttentionKind self = AttentionKind::EncoderSelf;
    bool cross = false;                 // each layer attends to the states of another stack, too
    bool returns_final_states = false;  // ends with the mixer of its last layer: the result is the last states of all
};

class Stack {
public:
    Stack(const ModelConfig& config, const Scope& scope, const StackPlan& plan, const Var& table,
          std::shared_ptr<PositionTables> positions, DropoutSites& sites);

    // `mask` is the rule of its mixers; result [batch, length, d_model]. If it hands over: [batch, states, d_model].
    Var operator()(Context& ctx, const DeviceTokens& tokens, const AttentionMask& mask,
                   const Memory& memory = {}) const;

    // The result if the layers behind this residual added nothing.
    Var states_of_residual(Context& ctx, const Var& residual) const { return residuals_.last_norm(ctx, residual); }

    // An empty cache of `rows` sequences, with room for `capacity` tokens. With cross-attention: one row for each of
    // memory's, projected to keys and values.
    Cache start_cache(Context& ctx, std::int64_t rows, std::int64_t capacity, const Memory& memory = {}) const;
    // The next tokens of each row, ids I32 [rows, tokens], which read the cached ones and those before them; result
    // [rows, tokens, d_model]. Only runs ops, so that it can be replayed: make_room() and advance() are around
    // it.
    Var append(Context& ctx, const Cache& cache, const Tensor& ids) const;
    // All tokens of each row at once, in both directions, of which the cache only has the sources' keys and values;
    // result [rows, length, d_model].
    Var reread(Context& ctx, const Cache& cache, const DeviceTokens& tokens) const;

private:
    // Equation 2 or experts, of x [batch, length, d_model] with these lengths of its texts, I32 [batch] or undefined.
    using FeedForwardPart = std::function<Var(Context& ctx, const Var& x, const Tensor& lengths)>;
    struct Layer {
        std::string label;        // "decoder.0"
        std::string mixer_label;  // "decoder.0.self_attention"
        std::unique_ptr<Mixer> mixer;
        std::optional<MultiHeadAttention> cross_attention;
        FeedForwardPart feed_forward;  // empty: none
        bool turns = false;            // rotary positions
        bool windowed = false;
    };
    // `config` is that of this stack.
    Stack(const Scope& scope, const ModelConfig& config, const StackPlan& plan, const Var& table,
          std::shared_ptr<PositionTables> positions, DropoutSites& sites);
    static FeedForwardPart make_feed_forward(const ModelConfig& config, const Scope& scope, DropoutSites& sites);
    // All layers; `mix` and `cross` run their first two sub-layers.
    template <class Mix, class Cross>
    Var run(Context& ctx, const Var& embedded, const Tensor& lengths, const Mix& mix, const Cross& cross) const;
    // What the mixers of a pass over `length` positions, or after `cached` tokens, read about positions.
    std::vector<MixerInputs> positions_of_pass(Context& ctx, std::int64_t length, const Cache* cached = nullptr) const;
    Var attend_to_sources(Context& ctx, const Cache& cache, const Cache::Layer& cached,
                          const MultiHeadAttention& attention, const Var& x) const;

    std::string name_;
    bool returns_final_states_;
    Embedding embedding_;
    std::vector<RelativeTable> relative_;  // of each layer, or one for all; empty without relative positions
    std::shared_ptr<PositionTables> positions_;
    Residuals residuals_;
    std::vector<Layer> layers_;
};

}  // namespace headscope
