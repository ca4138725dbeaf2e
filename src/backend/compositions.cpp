// The fused ops composed of core ops: the default of backends without kernels for them, and their oracle.
#include "backend/compositions.h"

#include <algorithm>

#include "backend/ops/attention.h"
#include "backend/ops/bias.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/matmul.h"
#include "backend/ops/search.h"
#include "support/check.h"

namespace headscope {

namespace {

// softmax(scale * Q . K^T under the mask), [batch, heads, queries, keys]
template <class Op>
Tensor weights_of(Backend& backend, const Op& op) {
    const Tensor weights = backend.empty({op.q.dim(0), op.q.dim(1), op.q.dim(2), op.k.dim(2)}, op.q.dtype);
    multiply_by_groups(
        backend,
        Matmul{.a = op.q, .b = op.k, .out = weights, .transpose_b = true, .alpha = op.scale, .compute = op.compute});
    backend.run(MaskedSoftmax{.scores = weights, .weights = weights, .mask = op.mask});
    return weights;
}

// Whether the rows of a group's heads lie as those of one matrix.
bool lie_as_groups(const Tensor& x, std::int64_t groups) {
    return x.dim(1) == groups || x.dim(2) <= 1 || x.stride(1) == x.dim(2) * x.stride(2);
}

// [batch, groups, heads / groups * rows, columns]
Tensor as_groups(Tensor x, std::int64_t groups) {
    if (x.dim(1) != groups) {
        const std::int64_t each = x.dim(1) / groups;
        x.strides[2] = x.dim(2) == 1 ? x.stride(1) : x.stride(2);
        x.strides[1] *= each;
        x.shape = {x.dim(0), groups, each * x.dim(2), x.dim(3)};
    }
    return x;
}

float beta_of(Write write) {
    return write == Write::Overwrite ? 0.0F : 1.0F;
}

// The keys or values of each sentence, [batch, heads, keys, columns], from the rows that Attention::key_rows names.
Tensor keys_of_rows(Backend& backend, const Tensor& x, const Tensor& key_rows) {
    const std::int64_t batch = key_rows.dim(1);
    Tensor keys = backend.empty({batch, x.dim(1), x.dim(2), x.dim(3)}, x.dtype);
    for (std::int64_t key = 0; key < x.dim(2); ++key) {
        backend.run(GatherRows{.x = x.narrow(2, key, 1),
                               .index = key_rows.narrow(0, key, 1).reshape({batch}),
                               .out = keys.narrow(2, key, 1)});
    }
    return keys;
}

}  // namespace

Tensor seen_keys(Backend& backend, const Tensor& x, const AttentionMask& mask, std::int64_t queries) {
    // Otherwise the query at a key's own position sees it.
    const bool moves = (mask.causal || mask.window > 0) && (mask.query_offset.defined() || queries < x.dim(2));
    if (queries == 0 || (!mask.key_lengths.defined() && !mask.key_ranges.defined() && !moves)) {
        return x;
    }
    const Tensor seen = backend.empty(x.shape, x.dtype);
    backend.run(MaskKeys{.x = x, .out = seen, .mask = mask, .queries = queries});
    return seen;
}

void multiply_by_groups(Backend& backend, const Matmul& op) {
    if (op.a.rank() < 4 || (op.a.dim(1) == op.b.dim(1) && op.a.dim(1) == op.out.dim(1))) {
        backend.run(op);
        return;
    }
    if (op.out.elements() == 0) {
        return;
    }
    HEADSCOPE_CHECK(op.beta == 0.0F || op.beta == 1.0F, "a product by groups adds to all of what is there or to none");
    const std::int64_t groups = std::min({op.a.dim(1), op.b.dim(1), op.out.dim(1)});
    Matmul grouped = op;
    for (Tensor* operand : {&grouped.a, &grouped.b}) {
        if (!lie_as_groups(*operand, groups)) {
            const Tensor copy = backend.empty(operand->shape, operand->dtype);
            backend.run(Copy{.x = *operand, .out = copy});
            *operand = copy;
        }
        *operand = as_groups(*operand, groups);
    }
    if (lie_as_groups(op.out, groups)) {
        grouped.out = as_groups(op.out, groups);
        backend.run(grouped);
        return;
    }
    const Tensor out = backend.empty(op.out.shape, op.out.dtype);
    grouped.out = as_groups(out, groups);
    grouped.beta = 0.0F;
    backend.run(grouped);
    backend.run(Copy{.x = out, .out = op.out, .write = op.beta == 0.0F ? Write::Overwrite : Write::Accumulate});
}

void sum_columns(Backend& backend, const Tensor& x, const Tensor& sums, Write write) {
    if (sums.defined()) {
        backend.run(SumRows{.x = x.reshape({x.dim(0) * x.dim(1), x.dim(2)}), .out = sums, .write = write});
    }
}

// Equation 1.
void Backend::run(const Attention& op) {
    if (op.key_rows.defined()) {
        Attention own = op;
        own.k = keys_of_rows(*this, op.k, op.key_rows);
        own.v = keys_of_rows(*this, op.v, op.key_rows);
        own.key_rows = {};
        run(own);
        return;
    }
    const Tensor weights = weights_of(*this, op);
    if (op.dropout.rate > 0.0F) {
        run(Dropout{.x = weights, .y = weights, .rule = op.dropout});
    }
    const Tensor v = seen_keys(*this, op.v, op.mask, op.q.dim(2));
    multiply_by_groups(*this, Matmul{.a = weights, .b = v, .out = op.out, .compute = op.compute});
}

void Backend::run(const AttentionBackward& op) {
    const Tensor weights = weights_of(*this, op);
    const Tensor scratch = empty(weights.shape, weights.dtype);
    const bool drops = op.dropout.rate > 0.0F;
    if (op.grad_v.defined()) {
        if (drops) {
            run(Dropout{.x = weights, .y = scratch, .rule = op.dropout});
        }
        multiply_by_groups(*this, Matmul{.a = drops ? scratch : weights,
                                         .b = op.grad_out,
                                         .out = op.grad_v,
                                         .transpose_a = true,
                                         .beta = beta_of(op.write_v),
                                         .compute = op.compute});
    }
    if (!op.grad_q.defined() && !op.grad_k.defined()) {
        return;
    }
    // The gradient of the weights, then of the scores.
    const Tensor v = seen_keys(*this, op.v, op.mask, op.q.dim(2));
    multiply_by_groups(*this,
                       Matmul{.a = op.grad_out, .b = v, .out = scratch, .transpose_b = true, .compute = op.compute});
    if (drops) {
        run(Dropout{.x = scratch, .y = scratch, .rule = op.dropout});
    }
    run(MaskedSoftmaxBackward{.weights = weights, .grad_weights = scratch, .grad_scores = scratch});
    if (op.grad_q.defined()) {
        multiply_by_groups(*this, Matmul{.a = scratch,
                                         .b = seen_keys(*this, op.k, op.mask, op.q.dim(2)),
                                         .out = op.grad_q,
                                         .alpha = op.scale,
                                         .beta = beta_of(op.write_q),
                                         .compute = op.compute});
    }
    if (op.grad_k.defined()) {
        multiply_by_groups(*this, Matmul{.a = scratch,
                                         .b = op.q,
                                         .out = op.grad_k,
                                         .transpose_a = true,
                                         .alpha = op.scale,
                                         .beta = beta_of(op.write_k),
                                         .compute = op.compute});
    }
}

void Backend::run(const Linear& op) {
    const bool in_place = works_in_place(op.activation);
    const Tensor product = in_place ? op.y : empty(op.y.shape, op.y.dtype);
    run(Matmul{.a = op.x,
               .b = op.weight,
               .out = product,
               .transpose_b = true,
               .compute = op.compute,
               .b_scales = op.weight_scales});
    if (op.bias.defined() || op.activation != Activation::None) {
        const Shape sentence{1, op.y.dim(0), op.y.dim(1)};
        run(BiasActivation{
            .x = product.reshape(sentence), .bias = op.bias, .y = op.y.reshape(sentence), .activation = op.activation});
    }
}

}  // namespace headscope
