// Differentiable functions: each runs its op at once and, with a tape, records its backward. Results have their input's
// dtype; an embedding has that of its weights, so the parameters decide whether activations are F16 or BF16. Statistics
// and the gradients of parameters stay F32. "Spends x" means that the result may reuse x's memory: x's value must not
// be read afterwards.
#pragma once

#include "autograd/context.h"
#include "backend/dropout_rule.h"

namespace headscope {

// The rule of one of the model's dropouts; the identity if the pass has no dropout.
DropoutRule dropout_rule(const Context& ctx, float rate, std::uint32_t site);

// alpha * op(a) . op(b), see backend/ops/matmul.h.
struct Product {
    bool transpose_a = false;
    bool transpose_b = false;
    float alpha = 1.0F;
};
Var matmul(Context& ctx, const Var& a, const Var& b, const Product& product = {});

// alpha * x . W^T: x [.., in], weight [out, in], result [.., out].
Var linear(Context& ctx, const Var& x, const Var& weight, float alpha = 1.0F);

// Dropout(f(x + bias)): x [batch, length, columns], bias [columns] or undefined. Spends x for None and Relu.
Var bias_activation(Context& ctx, const Var& x, const Var& bias, Activation activation, const DropoutRule& rule = {});

// Both: Dropout(f(x . W^T + bias)). One op if the device has it, nothing is dropped and f is None or Relu; else one
// after the other. x [batch, length, in], weight [out, in], bias [out] or undefined.
Var linear_activation(Context& ctx, const Var& x, const Var& weight, const Var& bias, Activation activation,
                      const DropoutRule& rule = {});

// sum = residual + Dropout(x), y = the norm of sum. Spends x. `residual` and `bias` may be undefined.
struct Normed {
    Var sum;
    Var y;
};
Normed add_layer_norm(Context& ctx, const Var& x, const Var& residual, const Var& gain, const Var& bias, float epsilon,
                      const DropoutRule& rule = {}, NormType type = NormType::Layer);

// a + b, of equal shapes. Spends a.
Var add_spending(Context& ctx, const Var& a, const Var& b);

// See backend/ops/batch_norm.h. x [batch, length, columns]; the others [columns]. If it measures, the running values
// move.
struct BatchNormOperands {
    Var gain;
    Var bias;
    Tensor running_mean;
    Tensor running_variance;
    Tensor lengths = {};  // I32 [batch]; undefined: no padding
    float epsilon = 1e-6F;
    bool measures = true;
};
Var batch_norm(Context& ctx, const Var& x, const BatchNormOperands& operands);

// a * b, element by element. Equal shapes.
Var multiply(Context& ctx, const Var& a, const Var& b);

// a [.., p] and b [.., q] side by side: [.., p + q].
Var concatenate(Context& ctx, const Var& a, const Var& b);

// The neighbours that a convolution reads for each position, see backend/ops/convolution.h.
struct Neighbours {
    std::int64_t taps = 1;
    std::int64_t first = 0;
    std::int64_t step = 1;
    std::int64_t positions = 0;  // of the result
    Tensor lengths = {};         // I32 [batch]: what lies behind is padding
    Tensor ranges = {};  // I32 [batch, positions, 2]: the document of each position; those of a row do not overlap
};
// x [batch, length, channels]: neighbours side by side, [batch, positions, taps * channels].
Var unfold(Context& ctx, const Var& x, const Neighbours& neighbours);
// Each channel's own weighted sum of neighbours: weights [taps, channels], result [batch, positions, channels].
Var depthwise(Context& ctx, const Var& x, const Var& weights, const Neighbours& neighbours);

// Spends scores [batch, heads, queries, keys]. `by_distance` [2 D + 1, heads] may be undefined.
Var masked_softmax(Context& ctx, const Var& scores, const AttentionMask& mask, const Var& by_distance = {});

// A contiguous copy of x, which may be a view.
Var copy_of(Context& ctx, const Var& x);
// The same, or without a tape x itself: for what may be spent although its own function still needs its result.
Var copied(Context& ctx, const Var& x);

// `dropout` leaves x unchanged, `dropout_spending` does not.
Var dropout(Context& ctx, const Var& x, const DropoutRule& rule);
Var dropout_spending(Context& ctx, const Var& x, const DropoutRule& rule);

// scale * table[ids] + positions: ids I32 [batch, length], table [vocabulary, d_model], result [batch, length, d_model]
// of the table's dtype, or of the backend's full_dtype() if that dtype is only for weights.
struct EmbedOperands {
    Tensor ids;
    Tensor order = {};  // I32 [batch * length], see EmbedBackward; needed if the table requires a gradient
    Var table;
    Var positions = {};  // [max_length, d_model], optional; learned if it requires a gradient
    Tensor first = {};   // I32 [1], the first position, 0 if undefined; only without a tape
    float scale = 1.0F;
};
Var embed(Context& ctx, const EmbedOperands& operands);

// The scores of attention: dot products, or additive ones if `gain` is defined.
struct Scoring {
    float scale = 0.0F;    // of products; 0: 1 / sqrt(d_k)
    Var gain = {};         // AdditiveScores::gain, [heads, d_k]
    Var by_distance = {};  // added to them: MaskedSoftmax::by_distance, [2 D + 1, heads]; may be undefined
    Tensor key_rows = {};  // of which row K and V are: Attention::key_rows, only of dot products that nobody observes
};

// Scores of q [batch, heads, queries, d_k] and k [batch, groups, keys, d_k] before by_distance is added: [batch, heads,
// queries, keys]. Additive ones need as many groups as heads.
Var attention_scores(Context& ctx, const Var& q, const Var& k, const Scoring& scoring);
// The additive ones.
Var additive_scores(Context& ctx, const Var& q, const Var& k, const Var& gain);

// Equation 1 for all heads: Q [batch, heads, queries, d_k], K [batch, groups, keys, d_k], V [batch, groups, keys, d_v],
// see Attention; result [batch, queries, heads * d_v], with the heads next to each other.
Var attend(Context& ctx, const AttentionSite& site, const Var& Q, const Var& K, const Var& V, const AttentionMask& mask,
           const DropoutRule& rule = {}, const Scoring& scoring = {});

}  // namespace headscope
