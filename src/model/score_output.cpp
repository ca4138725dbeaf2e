#include "model/score_output.h"

#include <fmt/format.h>

#include "autograd/experts.h"
#include "autograd/functions.h"
#include "backend/ops/elementwise.h"

namespace headscope {

namespace {

// The name of the weights, and of the block in pictures of the model.
struct ScoreNames {
    const char* weights;
    const char* title;
};

ScoreNames names_of(OutputHead head) {
    switch (head) {
        case OutputHead::Classes:
        case OutputHead::Labels: return {"classes", "Classes"};
        case OutputHead::Span: return {"span", "Start and end"};
        default: return {"scalar", "Score"};
    }
}

Var filled(Context& ctx, const Shape& shape, DType dtype, float value) {
    const Tensor tensor = ctx.backend.empty(shape, dtype);
    ctx.backend.run(Fill{.out = tensor, .value = value});
    return Var(tensor);
}

}  // namespace

ScoreOutput::ScoreOutput(const ModelConfig& config, const Scope& model) : layer_(config.output.layer) {
    const Scope scope = model.in("output").for_each(&MultiplyAdds::sentence);
    const auto [weights, title] = names_of(config.output.head);
    scope.block({.kind = BlockKind::Linear,
                 .title = title,
                 .detail = fmt::format("{} \u2192 {}", config.d_model, config.output.scores())});
    if (layer_ != ScoreLayer::None) {
        layer_weight_ = scope.full_weight({"layer", config.d_model}, config.d_model);
        layer_bias_ = scope.bias({{"layer", config.d_model}});
    }
    weight_ = scope.full_weight({weights, config.output.scores()}, config.d_model, Initial::Zero);
    bias_ = scope.bias({{weights, config.output.scores()}});
}

Var ScoreOutput::operator()(Context& ctx, const Var& states) const {
    Context full = ctx;
    full.compute = Compute::F32;
    return scored(full, converted(ctx, states, ctx.backend.full_dtype()));
}

Var ScoreOutput::scored(Context& ctx, const Var& inputs) const {
    if (layer_ == ScoreLayer::Tanh) {
        // No device has a tanh of its own: it is 2 sigmoid(2 x) - 1.
        const Var twice = bias_activation(ctx, linear(ctx, inputs, layer_weight_, 2.0F), layer_bias_, Activation::None);
        const Var inner = bias_activation(ctx, twice, layer_bias_, Activation::Sigmoid);
        const Var ones = filled(ctx, {1, 1, weight_.shape()[1]}, inner.value().dtype, 1.0F);
        const Var less = linear(ctx, ones, weight_, -1.0F).reshape({weight_.shape()[0]});
        const Var scores = bias_activation(ctx, linear(ctx, inner, weight_, 2.0F), less, Activation::None);
        return bias_activation(ctx, scores, bias_, Activation::None);
    }
    const Var inner = layer_ == ScoreLayer::Relu
                          ? linear_activation(ctx, inputs, layer_weight_, layer_bias_, Activation::Relu)
                          : inputs;
    return bias_activation(ctx, linear(ctx, inner, weight_), bias_, Activation::None);
}

// Attention that weighs all of a text alike, as scores of 0 do.
Var means_of_texts(Context& ctx, const Var& states, const Tensor& lengths, std::int64_t heads) {
    const std::int64_t columns = states.shape()[2];
    const Var values = states.heads(columns % heads == 0 ? heads : 1);
    const Var zeros = filled(ctx, values.shape(), values.value().dtype, 0.0F);
    Context unobserved = ctx;
    unobserved.observer = nullptr;
    unobserved.hooks = nullptr;
    return attend(unobserved, {}, zeros, zeros, values, {.key_lengths = lengths});
}

}  // namespace headscope
