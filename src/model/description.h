// What a model consists of, as its layers declare it in their constructors (scope.h). Memory for parameters, counts,
// FLOPs and the drawn map follow from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "autograd/context.h"
#include "model/config.h"
#include "tensor/shape.h"

namespace headscope {

// Initial values: Glorot uniform over [out, in]; the same divided by sqrt(2) for q, k and v of every attention
// (AttentionInput); uniform of variance 1/k for k taps of each channel (Taps); N(0, 1/d_model) for embeddings, token
// types and learned positions of both kinds; 1 for gains; 0 for biases, but 1 for the second of four parts, an LSTM's
// forget gate (ForgetGate; Gers et al., 2000; Jozefowicz et al., 2015).
enum class Initial : std::uint8_t { Glorot, AttentionInput, Taps, Embedding, One, Zero, ForgetGate };

struct ParameterSpec {
    std::string name;  // "encoder.layers.0.self_attention.q.weight"; the table is in docs/model-directory.md
    Shape shape;
    Initial initial = Initial::Glorot;
    // A weight of a product or an embedding table: read from a 16-bit copy if there is one.
    bool multiplied = false;
    bool follows = false;  // adjacent to the one before, without padding, so that both can be read as one matrix
    bool trained = true;   // else a buffer that the forward pass of training fills: no gradient, and not counted
};

enum class BlockKind : std::uint8_t {
    Embedding,
    Positions,
    RelativePositions,
    Layer,
    Attention,
    Convolution,
    Recurrent,
    FeedForward,
    Norm,
    Linear,
    Softmax,
};

// A box of the paper's Figure 1, or a layer as a whole.
struct Block {
    BlockKind kind = BlockKind::Layer;
    std::string title = {};
    std::string detail = {};          // its sizes: "8 heads of 64"
    bool shared = false;              // its matrix belongs to an earlier block
    bool without_parameters = false;  // it has no names to list
    std::optional<AttentionKind> attention = {};
    // Set by Scope::block().
    std::string prefix = {};      // how the names of its parameters begin: "encoder.layers.0.self_attention."
    int layer = 0;                // counted from 1; 0 outside of layers
    std::int64_t parameters = 0;  // elements of its own parameters, without those of nested and earlier blocks
};

// The layers of a stack in which a query attends only to keys that are less than `width` apart; 0: none.
struct WindowedLayers {
    std::int64_t width = 0;
    double share = 0.0;  // of the stack's layers
};

// Multiplications with additions of the products, for each token or each pair of a query and a key.
struct MultiplyAdds {
    double source_token = 0.0;
    double target_token = 0.0;
    double predicted_token = 0.0;  // the output's, for each token to predict
    double sentence = 0.0;         // once for each sentence
    double source_pair = 0.0;      // self-attention of the encoder
    double causal_pair = 0.0;      // self-attention of the decoder: a query attends to no later key
    double target_pair = 0.0;      // the same of a decoder that reads all of its text
    double cross_pair = 0.0;
    WindowedLayers source_window = {};  // of the encoder
    WindowedLayers causal_window = {};  // of the decoder
};

struct ModelDescription {
    // In the order of the flat buffer, which format_version fixes. q, k and v of a self-attention (k and v of a
    // cross-attention) are adjacent, so that their packed product [q; k; v] is a view.
    std::vector<ParameterSpec> parameters;
    std::vector<Block> blocks;
    MultiplyAdds multiply_adds;
    // Of each cluster of an adaptive output for each token that it sees: part of predicted_token, which stands for all
    // clusters, but in training only the tokens of a cluster see it.
    std::vector<double> output_clusters;
};

// Runs the constructors of the layers without parameters.
ModelDescription describe(const ModelConfig& config);
// Elements of all parameters whose names begin so.
std::int64_t parameters_under(const ModelDescription& model, const std::string& prefix);

}  // namespace headscope
