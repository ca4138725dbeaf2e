// AdditiveScores and its backward.
//
// Rule: scores and products are overwritten; grad_x is added to with Write::Accumulate. Nothing is in place. Sums over
// columns, keys and queries have one fixed order.
#include <algorithm>
#include <vector>

#include "backend/ops/additive.h"
#include "backends/cpu/clones.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/row_math.h"

namespace headscope::cpu {

namespace {

constexpr std::int64_t kTanhsWorthAThread = 4096;

HEADSCOPE_CLONES void score_row(const float* q, const float* k, std::int64_t k_step, const float* gain, float* scores,
                                std::int64_t keys, std::int64_t depth) {
    for (std::int64_t j = 0; j < keys; ++j) {
        const float* const key = k + j * k_step;
        scores[j] = sum_over(depth, [&](std::int64_t d) { return gain[d] * tanh_fast(q[d] + key[d]); });
    }
}

// Adds grad (1 - t^2) to `slopes` and grad t to `products`, t = tanh(x + other).
HEADSCOPE_CLONES void add_tanh_row(const float* x, const float* other, float grad, float* slopes, float* products,
                                   std::int64_t depth) {
    for (std::int64_t d = 0; d < depth; ++d) {
        const float squashed = tanh_fast(x[d] + other[d]);
        slopes[d] += grad * (1.0F - squashed * squashed);
        products[d] += grad * squashed;
    }
}

// Where row i of head h of sentence b begins.
float* row_at(const Tensor& tensor, std::int64_t b, std::int64_t h, std::int64_t i) {
    return data_of<float>(tensor) + b * tensor.stride(0) + h * tensor.stride(1) + i * tensor.stride(2);
}

// Calls body(b, h, i) for each row of each head of x, on the threads; each costs `tanhs`.
template <class Body>
void for_head_rows(ThreadPool& pool, const Tensor& x, std::int64_t tanhs, const Body& body) {
    const std::int64_t heads = x.dim(1);
    const std::int64_t rows = x.dim(2);
    const std::int64_t grain = kTanhsWorthAThread / std::max<std::int64_t>(tanhs, 1);
    pool.for_ranges(x.dim(0) * heads * rows, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            const std::int64_t head = row / rows;
            body(head / heads, head % heads, row % rows);
        }
    });
}

}  // namespace

void CpuBackend::run(const AdditiveScores& op) {
    const std::int64_t keys = op.k.dim(2);
    const std::int64_t depth = op.q.dim(3);
    const float* const gain = data_of<float>(op.gain);
    for_head_rows(pool_, op.q, keys * depth, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
        score_row(row_at(op.q, b, h, i), row_at(op.k, b, h, 0), op.k.stride(2), gain + h * depth,
                  row_at(op.scores, b, h, i), keys, depth);
    });
}

void CpuBackend::run(const AdditiveScoresBackward& op) {
    const std::int64_t others = op.others.dim(2);
    const std::int64_t depth = op.x.dim(3);
    const float* const gain = data_of<float>(op.gain);
    const std::int64_t grad_step = op.of_keys ? op.grad_scores.dim(3) : 1;
    for_head_rows(pool_, op.x, others * depth, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
        std::vector<float> sums(static_cast<std::size_t>(2 * depth));
        float* const slopes = sums.data();
        float* const products = slopes + depth;
        const float* const grads = op.of_keys ? row_at(op.grad_scores, b, h, 0) + i : row_at(op.grad_scores, b, h, i);
        for (std::int64_t j = 0; j < others; ++j) {
            add_tanh_row(row_at(op.x, b, h, i), row_at(op.others, b, h, j), grads[j * grad_step], slopes, products,
                         depth);
        }
        float* const grad_x = row_at(op.grad_x, b, h, i);
        for (std::int64_t d = 0; d < depth; ++d) {
            const float grad = gain[h * depth + d] * slopes[d];
            grad_x[d] = op.write == Write::Accumulate ? grad_x[d] + grad : grad;
        }
        if (op.products.defined()) {
            std::copy_n(products, depth, row_at(op.products, b, i, h));
        }
    });
}

}  // namespace headscope::cpu
