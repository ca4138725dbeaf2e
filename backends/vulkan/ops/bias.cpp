// BiasActivation, its backward, and SumRows.
//
// Rule: y is overwritten; gradients are added to with Write::Accumulate. None and ReLU work in place, and grad_x may be
// grad_y. Column sums run down fixed parts of the rows, then over the parts: no atomics, equal bits each time.
#include <algorithm>

#include "backend/compositions.h"
#include "backend/ops/bias.h"
#include "backends/vulkan/vulkan_backend_impl.h"

namespace headscope::vulkan {

std::int64_t VulkanBackend::row_parts(std::int64_t rows, std::int64_t columns) const {
    // Enough invocations, with four columns each, to fill a GPU, and enough rows for each to keep the second level
    // small.
    constexpr std::int64_t kInvocations = 16384;
    constexpr std::int64_t kLeastRows = 32;
    return std::clamp<std::int64_t>(kInvocations / std::max<std::int64_t>((columns + 3) / 4, 1), 1,
                                    std::max<std::int64_t>(rows / kLeastRows, 1));
}

void VulkanBackend::sum_rows(const Tensor& x, const Tensor& out, Write write) {
    const std::int64_t rows = x.dim(0);
    const std::int64_t columns = x.dim(1);
    const std::int64_t parts = row_parts(rows, columns);
    SumRowsParams params{};
    params.columns = u32(columns);
    const auto level = [&](const Tensor& from, const Tensor& to, std::int64_t count, bool accumulate) {
        params.rows = u32(from.dim(0));
        params.rows_per_part = u32((from.dim(0) + count - 1) / count);
        params.parts = u32(count);
        params.accumulate = accumulate ? 1 : 0;
        stream_.dispatch(
            vec4_launch(Kernel::SumRows, static_cast<std::uint64_t>(count), params.columns, params.rows_per_part),
            FoursConstants{.fours = vec4_loads(params.columns, {&from, &to})}, params, {.x = from, .out = to});
    };
    const bool accumulate = write == Write::Accumulate;
    if (parts == 1) {
        level(x, out, 1, accumulate);
        return;
    }
    const Tensor partial = empty({parts, columns}, DType::F32);
    level(x, partial, parts, false);
    level(partial, out, 1, accumulate);
}

void VulkanBackend::run(const SumRows& op) {
    require_types(op);
    if (op.out.elements() == 0) {
        return;
    }
    if (op.x.dim(0) == 0) {
        sum_rows(op.x, op.out, op.write);
        return;
    }
    Write write = op.write;
    for_row_tiles(op.x.dim(0), op.x.dim(1), [&](std::int64_t first, std::int64_t count) {
        sum_rows(op.x.narrow(0, first, count), op.out, write);
        write = Write::Accumulate;
    });
}

void VulkanBackend::run(const BiasActivation& op) {
    require_types(op);
    if (op.y.elements() == 0) {
        return;
    }
    const Tensor x = as_rows(op.x);
    const Tensor y = as_rows(op.y);
    BiasActivationParams params{};
    params.sequence = u32(op.x.dim(1));
    params.columns = u32(op.x.dim(2));
    params.dropout = dropout_params(op.dropout);
    for_row_tiles(x.dim(0), x.dim(1), [&](std::int64_t first, std::int64_t count) {
        params.first_row = u32(first);
        const Tensor x_part = x.narrow(0, first, count);
        const Tensor y_part = y.narrow(0, first, count);
        stream_.dispatch(
            row_launch(Kernel::BiasActivation, static_cast<std::uint64_t>(count), params.columns),
            BiasActivationConstants{.fours = vec4_loads(params.columns, {&x_part, &op.bias, &y_part}),
                                    .activation = static_cast<std::uint32_t>(op.activation),
                                    .drops = drops(params.dropout),
                                    .has_bias = op.bias.defined()},
            params,
            {.x = x_part, .bias = op.bias, .step = op.dropout.step, .ordinals = op.dropout.ordinals, .y = y_part});
    });
}

void VulkanBackend::run(const BiasActivationBackward& op) {
    require_types(op);
    if (op.grad_x.elements() == 0) {
        sum_columns(*this, op.grad_x, op.sums, op.write_sums);
        return;
    }
    const Tensor x = as_rows(op.x);
    const Tensor grad_y = as_rows(op.grad_y);
    const Tensor grad_x = as_rows(op.grad_x);
    BiasActivationBackwardParams params{};
    params.sequence = u32(op.x.dim(1));
    params.columns = u32(op.x.dim(2));
    params.dropout = dropout_params(op.dropout);
    for_row_tiles(x.dim(0), x.dim(1), [&](std::int64_t first, std::int64_t count) {
        params.first_row = u32(first);
        const Tensor x_part = x.narrow(0, first, count);
        const Tensor grad_y_part = grad_y.narrow(0, first, count);
        const Tensor grad_x_part = grad_x.narrow(0, first, count);
        stream_.dispatch(row_launch(Kernel::BiasActivationBackward, static_cast<std::uint64_t>(count), params.columns),
                         BiasActivationBackwardConstants{
                             .fours = vec4_loads(params.columns, {&x_part, &op.bias, &grad_y_part, &grad_x_part}),
                             .activation = static_cast<std::uint32_t>(op.activation),
                             .drops = drops(params.dropout),
                             .has_bias = op.bias.defined(),
                             .accumulates = op.write == Write::Accumulate},
                         params,
                         {.x = x_part,
                          .bias = op.bias,
                          .grad_y = grad_y_part,
                          .step = op.dropout.step,
                          .ordinals = op.dropout.ordinals,
                          .grad_x = grad_x_part});
    });
    sum_columns(*this, op.grad_x, op.sums, op.write_sums);
}

}  // namespace headscope::vulkan
