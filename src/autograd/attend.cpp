// Products of two variables, and attention, which is composed of them. Paper 3.2.1 and 3.2.2.
#include <algorithm>
#include <cmath>
#include <utility>

#include "autograd/aim.h"
#include "autograd/functions.h"
#include "autograd/hooks.h"
#include "backend/compositions.h"
#include "backend/long_attention.h"
#include "backend/ops/attention.h"
#include "backend/ops/bias.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/matmul.h"
#include "backend/overlap.h"
#include "support/check.h"

namespace headscope {

namespace {

// out = alpha op(a) op(b), by groups of heads if b has fewer. `out` may be any view of a variable, which requires a
// gradient if a or b does.
void matmul_into(Context& ctx, const Var& a, const Var& b, const Var& out, const Product& product) {
    multiply_by_groups(ctx.backend, Matmul{.a = a.value(),
                                           .b = b.value(),
                                           .out = out.value(),
                                           .transpose_a = product.transpose_a,
                                           .transpose_b = product.transpose_b,
                                           .alpha = product.alpha,
                                           .compute = ctx.compute});
    if (!out.requires_grad()) {
        return;
    }
    auto backward = [a, b, out = out.without_value(), product, compute = ctx.compute](Backend& backend) {
        const Tensor grad = out.gradient();
        const auto run = [&](const Var& to, const Tensor& left, bool transpose_left, const Tensor& right,
                             bool transpose_right) {
            const GradientTarget target = to.gradient_target(backend);
            multiply_by_groups(backend, Matmul{.a = left,
                                               .b = right,
                                               .out = target.tensor,
                                               .transpose_a = transpose_left,
                                               .transpose_b = transpose_right,
                                               .alpha = product.alpha,
                                               .beta = beta_for(target.write),
                                               .compute = compute});
        };
        if (a.requires_grad() && !product.transpose_a) {
            run(a, grad, false, b.value(), !product.transpose_b);
        } else if (a.requires_grad()) {
            run(a, b.value(), product.transpose_b, grad, true);
        }
        if (b.requires_grad() && !product.transpose_b) {
            run(b, a.value(), !product.transpose_a, grad, false);
        } else if (b.requires_grad()) {
            run(b, grad, true, a.value(), product.transpose_a);
        }
    };
    ctx.tape->record("matmul", {a, b}, std::move(backward));
}

bool wants_gradient(const Context& ctx, const Var& a, const Var& b) {
    return ctx.tape != nullptr && (a.requires_grad() || b.requires_grad());
}

bool observed(const Context& ctx, const AttentionSite& site) {
    return ctx.observer != nullptr && ctx.observer->wants(site);
}

// Passes the weights to the observer; what it returns replaces them.
Var attention_site(Context& ctx, const Var& weights, AttentionView view) {
    if (!observed(ctx, view.site)) {
        return weights;
    }
    view.weights = weights.value();
    const Tensor after = ctx.observer->observe(ctx.backend, view);
    HEADSCOPE_CHECK(after.shape == weights.shape(), "an observer of attention gave back " + after.to_string() +
                                                        " for weights of " + weights.shape().to_string());
    const bool same = after.buffer == weights.value().buffer && after.offset == weights.value().offset;
    HEADSCOPE_CHECK(same || !weights.requires_grad(), "attention can only be edited in place while a tape records");
    if (weights.requires_grad()) {
        ctx.tape->record("observer", {}, [weights, view, observer = ctx.observer](Backend& backend) {
            if (weights.has_gradient()) {
                observer->observe_gradient(backend, view, weights.gradient());
            }
        });
    }
    return same ? weights : Var(after);
}

}  // namespace

Var matmul(Context& ctx, const Var& a, const Var& b, const Product& product) {
    Shape shape = a.shape();
    shape.set(-2, a.shape()[product.transpose_a ? -1 : -2]);
    shape.set(-1, b.shape()[product.transpose_b ? -2 : -1]);
    Var out(ctx.backend.empty(shape, a.value().dtype), wants_gradient(ctx, a, b));
    matmul_into(ctx, a, b, out, product);
    return out;
}

namespace {

// The gradient of MaskedSoftmax::by_distance: sums over all pairs at one distance, of which those that are farther than
// the table reaches are its first and last row's.
void by_distance_backward(Backend& backend, const Var& by_distance, const Tensor& grad_scores) {
    const std::int64_t batch = grad_scores.dim(0);
    const std::int64_t heads = grad_scores.dim(1);
    const std::int64_t count = SumDiagonals::count(grad_scores.dim(2), grad_scores.dim(3));
    const Tensor of_sentences = backend.empty({batch, count, heads}, backend.full_dtype());
    const Tensor sums = backend.empty({count, heads}, backend.full_dtype());
    backend.run(SumDiagonals{.x = grad_scores, .sums = of_sentences});
    backend.run(SumRows{.x = of_sentences.reshape({batch, count * heads}), .out = sums.reshape({count * heads})});
    const GradientTarget to = by_distance.gradient_target(backend);
    if (to.write == Write::Overwrite) {
        backend.run(Fill{.out = to.tensor, .value = 0.0F});
    }
    // Of the distance 0 in the sums and in the table.
    const std::int64_t middle = grad_scores.dim(2) - 1;
    const std::int64_t farthest = to.tensor.dim(0) / 2;
    const std::int64_t begin = std::max<std::int64_t>(middle - farthest, 0);
    const std::int64_t end = std::min(middle + farthest + 1, count);
    const auto add = [&](std::int64_t first, std::int64_t rows, std::int64_t row) {
        if (rows > 0) {
            backend.run(SumRows{.x = sums.narrow(0, first, rows),
                                .out = to.tensor.narrow(0, row, 1).reshape({heads}),
                                .write = Write::Accumulate});
        }
    };
    add(0, begin, 0);
    add(end, count - end, 2 * farthest);
    backend.run(Copy{.x = sums.narrow(0, begin, end - begin),
                     .out = to.tensor.narrow(0, begin - middle + farthest, end - begin),
                     .write = Write::Accumulate});
}

}  // namespace

Var masked_softmax(Context& ctx, const Var& scores, const AttentionMask& mask, const Var& by_distance) {
    const Tensor& in = scores.value();
    const Tensor added = by_distance.defined() ? by_distance.value() : Tensor();
    ctx.backend.run(MaskedSoftmax{.scores = in, .weights = in, .mask = mask, .by_distance = added});
    const bool recorded = wants_gradient(ctx, scores, by_distance);
    Var weights(in, recorded);
    if (recorded) {
        HEADSCOPE_CHECK(!by_distance.requires_grad() || !mask.query_offset.defined(),
                        "a tape records whole sequences, from position 0");
        auto backward = [scores = scores.without_value(), by_distance = by_distance.without_value(),
                         weights](Backend& backend) {
            const Tensor grad = weights.gradient();
            backend.run(MaskedSoftmaxBackward{.weights = weights.value(), .grad_weights = grad, .grad_scores = grad});
            if (by_distance.requires_grad()) {
                by_distance_backward(backend, by_distance, grad);
            }
            if (scores.requires_grad()) {
                scores.add_gradient(backend, grad);
            }
        };
        ctx.tape->record("masked_softmax", {}, std::move(backward));
    }
    return weights;
}

namespace {

// The nearest to 1 / sqrt(d_k), as PyTorch rounds it.
float scale_of(const Scoring& scoring, std::int64_t d_k) {
    return scoring.scale > 0.0F ? scoring.scale : static_cast<float>(1.0 / std::sqrt(static_cast<double>(d_k)));
}

// The fused op, which never exposes its weights; `out` is [batch, queries, heads * d_v].
Var attend_fused(Context& ctx, const Var& Q, const Var& K, const Var& V, Attention op, const Tensor& out,
                 bool recorded) {
    const std::int64_t heads = Q.shape()[1];
    op.out = out.heads(heads);
    if (recorded) {
        const DType wide = out.dtype == DType::F64 ? DType::F64 : DType::F32;
        op.log_sums = ctx.backend.empty({Q.shape()[0], heads, Q.shape()[2]}, wide);
    }
    ctx.backend.run(op);
    const Var attended(out, recorded);
    if (recorded) {
        ctx.tape->record("attention", {}, [Q, K, V, op, attended = attended.without_value()](Backend& backend) {
            AttentionBackward back{.q = op.q,
                                   .k = op.k,
                                   .v = op.v,
                                   .out = op.out,
                                   .grad_out = attended.gradient().heads(op.q.dim(1)),
                                   .log_sums = op.log_sums,
                                   .mask = op.mask,
                                   .scale = op.scale,
                                   .dropout = op.dropout,
                                   .compute = op.compute};
            aim(backend, Q, back.grad_q, back.write_q);
            aim(backend, K, back.grad_k, back.write_k);
            aim(backend, V, back.grad_v, back.write_v);
            backend.run(back);
        });
    }
    return attended;
}

}  // namespace

Var attention_scores(Context& ctx, const Var& q, const Var& k, const Scoring& scoring) {
    return scoring.gain.defined() ? additive_scores(ctx, q, k, scoring.gain)
                                  : matmul(ctx, q, k, {.transpose_b = true, .alpha = scale_of(scoring, q.shape()[3])});
}

Var attend(Context& ctx, const AttentionSite& site, const Var& Q, const Var& K, const Var& V, const AttentionMask& mask,
           const DropoutRule& rule, const Scoring& scoring) {
    const std::int64_t heads = Q.shape()[1];
    const std::int64_t d_v = V.shape()[3];
    const float scale = scale_of(scoring, Q.shape()[3]);
    const DType dtype = Q.value().dtype;
    const Tensor out = ctx.backend.empty({Q.shape()[0], Q.shape()[2], heads * d_v}, dtype);
    const bool recorded = wants_gradient(ctx, Q, K) || wants_gradient(ctx, V, scoring.gain);
    // A composed backward would compute the weights a second time, so with a tape it is better to keep them, unless a
    // window makes most of them 0 or there are too many. Also, one op does not write the gradients of one variable in
    // two roles.
    const bool makes_anew = mask.is_narrow(K.shape()[2]) || is_long_attention(Q.shape()[2], K.shape()[2]) ||
                            ctx.backend.support(OpId::AttentionBackward, dtype).level == SupportLevel::Native;
    const bool with_backward = !recorded || (makes_anew && !may_overlap(Q.value(), K.value()) &&
                                             !may_overlap(Q.value(), V.value()) && !may_overlap(K.value(), V.value()));
    const bool shows_weights = observed(ctx, site) || wants_site(ctx, "weights");
    if (with_backward && !shows_weights && !scoring.by_distance.defined() && !scoring.gain.defined()) {
        const Attention op{.q = Q.value(),
                           .k = K.value(),
                           .v = V.value(),
                           .out = {},
                           .mask = mask,
                           .key_rows = scoring.key_rows,
                           .scale = scale,
                           .dropout = rule,
                           .compute = ctx.compute};
        return attend_fused(ctx, Q, K, V, op, out, recorded);
    }
    HEADSCOPE_CHECK(!scoring.key_rows.defined(), "only the op Attention reads keys of several rows");
    const auto seen = [&](const Var& x) {
        const Tensor value = seen_keys(ctx.backend, x.value(), mask, Q.shape()[2]);
        return value.buffer == x.value().buffer ? x : x.with_value(value);
    };
    // Scores are masked after their product, so unseen keys matter only in the backward pass.
    const Var keys = recorded ? seen(K) : K;
    const Var values = seen(V);
    const Var scores = attention_scores(ctx, Q, keys, scoring);
    Var weights = masked_softmax(ctx, scores, mask, scoring.by_distance);  // [batch, heads, queries, keys]
    weights = attention_site(ctx, weights,
                             {.site = site,
                              .weights = {},
                              .queries = Q.value(),
                              .keys = K.value(),
                              .mask = mask,
                              .scale = scale,
                              .by_distance = scoring.by_distance.defined() ? scoring.by_distance.value() : Tensor()});
    weights = at_site(ctx, "weights", weights);
    weights = dropout(ctx, weights, rule);
    Var attended(out, wants_gradient(ctx, weights, values));
    matmul_into(ctx, weights, values, attended.heads(heads), {});
    return attended;
}

}  // namespace headscope
