// The whole encoder-decoder of section 3.
#pragma once

#include <cstdint>

#include "model/embedding.h"
#include "model/generator.h"
#include "model/projection.h"
#include "model/stack.h"

namespace headscope {

// The embeddings of both sides, one matrix if they share it.
struct TwoTables {
    TwoTables(const ModelConfig& config, const Scope& model);
    EmbeddingTable source, target;
};

class EncoderDecoder final : public Generator {
public:
    EncoderDecoder(const ModelConfig& config, const Scope& model);
    EncoderDecoder(const ModelConfig& config, const Parameters& parameters, ModelDescription declared = {})
        : EncoderDecoder(config, Scope(declared, &parameters)) {}

    // Result [batch, length, d_model]. 3.1. The source needs its lengths.
    Var encode(Context& ctx, const DeviceTokens& source) const;
    // Teacher-forced: the target starts with bos; result [batch, length, d_model]. Its lengths tell batch norms what is
    // padding.
    Var decode(Context& ctx, const DeviceTokens& target, const Memory& memory) const;
    // memory [rows, source_length, d_model].
    Cache start_cache(Context& ctx, const Tensor& memory, const Tensor& source_lengths, std::int64_t capacity) const;

    Var states(Context& ctx, const DeviceBatch& batch) const override;
    Cache start(Context& ctx, const DeviceBatch& batch) const override;

private:
    EncoderDecoder(const ModelConfig& config, const Scope& model, const TwoTables& tables);
    const Projection& projection() const override { return projection_; }
    const Stack& writer() const override { return decoder_; }

    Stack encoder_;
    Stack decoder_;
    Projection projection_;
};

}  // namespace headscope
