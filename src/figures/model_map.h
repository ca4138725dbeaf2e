// Draws a model as in the paper's Figures 1 and 2, with its shapes and parameter counts.
#pragma once

#include <cstdint>
#include <string>

#include "model/config.h"
#include "paint/sketch.h"

namespace headscope {

enum class ModelBlock : std::uint8_t {
    SourceEmbedding,
    TargetEmbedding,
    SourcePositions,
    TargetPositions,
    EncoderLayer,  // the whole layer: its number beside the stack
    DecoderLayer,
    EncoderSelfAttention,
    EncoderSelfNorm,
    EncoderFeedForward,
    EncoderFeedForwardNorm,
    DecoderSelfAttention,
    DecoderSelfNorm,
    CrossAttention,
    CrossNorm,
    DecoderFeedForward,
    DecoderFeedForwardNorm,
    EncoderNorm,  // after the last layer, in pre-norm models
    DecoderNorm,
    Linear,
    Softmax,
    ScaledDotProduct,  // Figure 2, left
    MultiHead,         // Figure 2, right
};

struct ModelMapOptions {
    int encoder_layer = 1;  // the layer that the stack shows, from 1
    int decoder_layer = 1;
    Look look = {};
};

// Marks of blocks have item = ModelBlock and, in a stack, layer.
Drawing draw_model_map(const ModelConfig& config, const ModelMapOptions& options);

// The name prefix of a block's parameters, such as "encoder.layers.4.self_attention."; empty if it has none. The prefix
// of an attention also matches its norm, which parameters_of() excludes.
std::string parameter_prefix(const ModelConfig& config, ModelBlock block, int layer);
// The number of parameters of a block; a shared embedding counts for the first block that uses it.
std::int64_t parameters_of(const ModelConfig& config, ModelBlock block, int layer);

// "1,792,000"
std::string with_thousands(std::int64_t number);

}  // namespace headscope
