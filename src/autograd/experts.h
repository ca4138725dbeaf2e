// A mixture of experts: tokens are routed to the slots of experts, whose results are mixed. See backend/ops/experts.h.
#pragma once

#include "autograd/functions.h"

namespace headscope {

struct Routing {
    std::int64_t choices = 2;   // experts of a token
    std::int64_t capacity = 1;  // slots of an expert
    Tensor lengths = {};        // I32 [batch]: what lies behind is padding, which gets no slot
};

struct Routes {
    Var weights;     // [experts, capacity]
    Tensor slots;    // I32 [tokens, choices]
    Tensor sources;  // I32 [experts * capacity]
    Tensor keys;     // I32 [experts * capacity], DropoutRule::ordinals of slots; undefined unless the pass has dropout
};

// logits [batch, length, experts], F32. Regularisation::expert_balance adds to their gradient that of a loss for each
// token: experts times the sum over experts of (share of tokens that choose it first) * p. It is smallest if all
// experts are chosen equally often (Shazeer et al., 2017; in this form Fedus et al., 2022).
Routes route(Context& ctx, const Var& logits, const Routing& routing);

// x [batch, length, columns] in the slots, 0 in empty ones: [experts, capacity, columns].
Var take_tokens(Context& ctx, const Var& x, const Routes& routes);
// For each token the weighted sum of its slots of x [experts, capacity, columns], in a shape [batch, length, columns].
Var mix_experts(Context& ctx, const Var& x, const Routes& routes, const Shape& shape);

// Each expert's own x . W^T + bias: x [experts, capacity, in], weight [experts * out, in], bias [experts * out] or
// undefined; result [experts, capacity, out].
Var expert_linear(Context& ctx, const Var& x, const Var& weight, const Var& bias);

// The same numbers in another type.
Var converted(Context& ctx, const Var& x, DType dtype);

}  // namespace headscope
