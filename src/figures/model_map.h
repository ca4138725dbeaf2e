// The loaded model as the paper's Figures 1 and 2 draw theirs, with its own shapes and parameter counts.
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
    EncoderLayer,  // the layer as a whole: its number beside the stack
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
    EncoderNorm,  // behind the last layer, where norms stand before their sub-layers
    DecoderNorm,
    Linear,
    Softmax,
    ScaledDotProduct,  // Figure 2, left
    MultiHead,         // Figure 2, right
};

struct ModelMapOptions {
    int encoder_layer = 1;  // which of the layers the stacks show, from 1
    int decoder_layer = 1;
    Look look = {};
};

// Marks of blocks have item = ModelBlock and, in a stack, layer.
Drawing draw_model_map(const ModelConfig& config, const ModelMapOptions& options);

// How the names of a block's parameters begin: "encoder.layers.4.self_attention.". Empty: it has none of its own.
// A prefix of attention takes its norm in, which parameters_of leaves out.
std::string parameter_prefix(const ModelConfig& config, ModelBlock block, int layer);
// The elements of all parameters of a block; a shared embedding counts for the first block that has it.
std::int64_t parameters_of(const ModelConfig& config, ModelBlock block, int layer);

// "1,792,000"
std::string with_thousands(std::int64_t number);

}  // namespace headscope
