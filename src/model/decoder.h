// 3.1: the stack that predicts the target, token by token or, in training, at all positions at once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/attention.h"
#include "model/embedding.h"
#include "model/feed_forward.h"
#include "model/transformer.h"

namespace headscope {

class Decoder {
public:
    Decoder(const ModelConfig& config, const Scope& scope, const Var& table, std::shared_ptr<Sinusoids> sinusoids,
            DropoutSites& sites);

    // target_in I32 [batch, length], memory [batch, source_length, d_model], source_lengths I32 [batch];
    // result [batch, length, d_model].
    Var operator()(Context& ctx, const Tensor& target_in, const Var& memory, const Tensor& source_lengths,
                   const Tensor& order) const;

    // Projects memory [rows, source_length, d_model] to keys and values and allocates room for `capacity` tokens.
    DecoderCache start_cache(Context& ctx, const Tensor& memory, const Tensor& source_lengths,
                             std::int64_t capacity) const;
    // A step calls these three in order: make_room() for a token; append() of ids I32 [rows, 1], which returns [rows,
    // 1, d_model] and only runs ops, so that it can be replayed; advance() counts the token.
    void make_room(Context& ctx, DecoderCache& cache) const;
    Var append(Context& ctx, const DecoderCache& cache, const Tensor& ids) const;
    void advance(Context& ctx, DecoderCache& cache) const;
    DecoderCache reorder(Context& ctx, const DecoderCache& cache, const Tensor& rows, const Tensor& sources) const;

private:
    struct Layer {
        std::string label;
        MultiHeadAttention self_attention;
        MultiHeadAttention cross_attention;
        FeedForward feed_forward;
    };
    // All layers; `self` and `cross` run the two attentions.
    template <class Self, class Cross>
    Var run(Context& ctx, const Var& embedded, const Self& self, const Cross& cross) const;
    Var attend_to_sources(Context& ctx, const DecoderCache& cache, const DecoderCache::Layer& cached,
                          const MultiHeadAttention& attention, const Var& x) const;
    Var attend_to_cache(Context& ctx, const DecoderCache& cache, const DecoderCache::Layer& cached,
                        const MultiHeadAttention& attention, const Var& x) const;
    void set_views(DecoderCache& cache) const;
    void allocate(Context& ctx, DecoderCache& cache, std::int64_t capacity, DType dtype) const;

    std::int64_t heads_, d_k_, d_v_;
    Embedding embedding_;
    Residuals residuals_;  // three sub-layers in each layer
    std::vector<Layer> layers_;
};

}  // namespace headscope
