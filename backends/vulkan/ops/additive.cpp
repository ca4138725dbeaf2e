// AdditiveScores and its backward.
//
// Rule: scores and products are overwritten; grad_x is added to with Write::Accumulate. Nothing is in place. Sums over
// columns, keys and queries have one fixed order.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "backend/ops/additive.h"
#include "backends/vulkan/vulkan_backend_impl.h"
#include "support/check.h"

namespace headscope::vulkan {

namespace {

void copy_strides(const Tensor& tensor, std::uint32_t (&strides)[3]) {
    for (int dim = 0; dim < 3; ++dim) {
        strides[dim] = u32(tensor.stride(dim));
    }
}

// Whether every row of these [batch, heads, rows, columns] begins at a multiple of four.
bool rows_by_fours(std::initializer_list<const Tensor*> tensors) {
    return std::all_of(tensors.begin(), tensors.end(), [](const Tensor* tensor) {
        bool fours = true;
        for (int dim = 0; dim < 3; ++dim) {
            fours = fours && (tensor->dim(dim) == 1 || tensor->stride(dim) % 4 == 0);
        }
        return fours;
    });
}

// Halves of the sentences, or of the heads of one.
template <class Run>
void in_halves(const Tensor& x, const Run& run) {
    const int dim = x.dim(0) > 1 ? 0 : 1;
    const std::int64_t size = x.dim(dim);
    HEADSCOPE_CHECK(size > 1, "one head of additive attention is larger than a binding");
    for (const auto& [first, count] : {std::pair{std::int64_t{0}, size / 2}, std::pair{size / 2, size - size / 2}}) {
        run(dim, first, count);
    }
}

}  // namespace

void VulkanBackend::run(const AdditiveScores& op) {
    require_types(op);
    if (op.scores.elements() == 0) {
        return;
    }
    if (!fit_bindings({&op.q, &op.k, &op.scores})) {
        in_halves(op.q, [&](int dim, std::int64_t first, std::int64_t count) {
            run(AdditiveScores{.q = op.q.narrow(dim, first, count),
                               .k = op.k.narrow(dim, first, count),
                               .gain = dim == 0 ? op.gain : op.gain.narrow(0, first, count),
                               .scores = op.scores.narrow(dim, first, count)});
        });
        return;
    }
    AdditiveScoresParams params{};
    params.count = u32(op.scores.elements());
    params.heads = u32(op.q.dim(1));
    params.queries = u32(op.q.dim(2));
    params.keys = u32(op.k.dim(2));
    params.depth = u32(op.q.dim(3));
    copy_strides(op.q, params.q_strides);
    copy_strides(op.k, params.k_strides);
    const bool fours = rows_by_fours({&op.q, &op.k}) && vec4_loads(params.depth, {&op.q, &op.k, &op.gain});
    stream_.dispatch(vec4_launch(Kernel::AdditiveScores, params.count, 1, std::max(params.depth, 1U)),
                     FoursConstants{.fours = fours}, params,
                     {.q = op.q, .k = op.k, .gain = op.gain, .scores = op.scores});
}

void VulkanBackend::run(const AdditiveScoresBackward& op) {
    require_types(op);
    if (op.x.elements() == 0) {
        return;
    }
    if (!fit_bindings({&op.x, &op.others, &op.grad_scores, &op.grad_x, &op.products})) {
        in_halves(op.x, [&](int dim, std::int64_t first, std::int64_t count) {
            AdditiveScoresBackward part = op;
            for (Tensor* tensor : {&part.x, &part.others, &part.grad_scores, &part.grad_x}) {
                *tensor = tensor->narrow(dim, first, count);
            }
            if (dim == 1) {
                part.gain = op.gain.narrow(0, first, count);
            }
            if (op.products.defined()) {
                part.products = op.products.narrow(2 * dim, first, count);
            }
            run(part);
        });
        return;
    }
    AdditiveScoresBackwardParams params{};
    params.heads = u32(op.x.dim(1));
    params.rows = u32(op.x.dim(2));
    params.others = u32(op.others.dim(2));
    params.depth = u32(op.x.dim(3));
    params.all_rows = u32(op.x.dim(0)) * params.heads * params.rows;
    params.grad_row = op.of_keys ? 1 : params.others;
    params.grad_other = op.of_keys ? params.rows : 1;
    params.products_row = op.products.defined() ? u32(op.products.stride(1)) : 0;
    copy_strides(op.x, params.x_strides);
    copy_strides(op.others, params.others_strides);
    copy_strides(op.grad_x, params.grad_x_strides);
    const bool fours = rows_by_fours({&op.x, &op.others, &op.grad_x}) &&
                       vec4_loads(params.depth, {&op.x, &op.others, &op.gain, &op.grad_x, &op.products});
    stream_.dispatch(
        vec4_launch(Kernel::AdditiveScoresBackward, params.all_rows, params.depth, std::max(params.others, 1U)),
        AdditiveScoresBackwardConstants{
            .fours = fours, .accumulates = op.write == Write::Accumulate, .has_products = op.products.defined()},
        params,
        {.x = op.x,
         .others = op.others,
         .gain = op.gain,
         .grad_scores = op.grad_scores,
         .grad_x = op.grad_x,
         .products = op.products});
}

}  // namespace headscope::vulkan
