// BatchNorm and its backward.
//
// Rule: y, mean and rstd are overwritten, the running values moved in place; each gradient has a Write of its own. Sums
// are in F32, in an order that the sizes alone decide.
#include "backend/ops/batch_norm.h"
#include "backends/vulkan/vulkan_backend_impl.h"
#include "support/check.h"

namespace headscope::vulkan {

void VulkanBackend::run(const BatchNorm& op) {
    require_types(op);
    const std::int64_t columns = op.x.dim(2);
    if (columns == 0) {
        return;
    }
    HEADSCOPE_CHECK(fits_binding(op.x), "a batch norm's input must fit a binding, found " + op.x.to_string());
    BatchNormParams params{};
    params.rows = u32(op.x.dim(0) * op.x.dim(1));
    params.sequence = u32(op.x.dim(1));
    params.columns = u32(columns);
    params.epsilon = op.epsilon;
    params.momentum = op.momentum;
    const std::uint64_t groups = (params.columns + std::uint64_t{3}) / 4;
    stream_.dispatch(
        long_row_launch(Kernel::BatchNorm, groups, std::uint64_t{params.rows} / 2),
        BatchNormConstants{.fours = vec4_loads(params.columns, {&op.x, &op.gain, &op.bias, &op.running_mean,
                                                                &op.running_variance, &op.y, &op.mean, &op.rstd}),
                           .measures = op.measures,
                           .has_lengths = op.lengths.defined()},
        params,
        {.x = op.x,
         .lengths = op.lengths,
         .gain = op.gain,
         .bias = op.bias,
         .running_mean = op.running_mean,
         .running_variance = op.running_variance,
         .y = op.y,
         .mean = op.mean,
         .rstd = op.rstd});
}

void VulkanBackend::run(const BatchNormBackward& op) {
    require_types(op);
    const std::int64_t columns = op.x.dim(2);
    if (columns == 0) {
        return;
    }
    HEADSCOPE_CHECK(fits_binding(op.x), "a batch norm's input must fit a binding, found " + op.x.to_string());
    BatchNormBackwardParams params{};
    params.rows = u32(op.x.dim(0) * op.x.dim(1));
    params.sequence = u32(op.x.dim(1));
    params.columns = u32(columns);
    params.accumulate_x = op.write_x == Write::Accumulate ? 1 : 0;
    params.accumulate_gain = op.write_gain == Write::Accumulate ? 1 : 0;
    params.accumulate_bias = op.write_bias == Write::Accumulate ? 1 : 0;
    const std::uint64_t groups = (params.columns + std::uint64_t{3}) / 4;
    stream_.dispatch(
        long_row_launch(Kernel::BatchNormBackward, groups, std::uint64_t{params.rows} / 2),
        BatchNormBackwardConstants{.fours = vec4_loads(params.columns, {&op.x, &op.gain, &op.mean, &op.rstd, &op.grad_y,
                                                                        &op.grad_x, &op.grad_gain, &op.grad_bias}),
                                   .measures = op.measures,
                                   .has_lengths = op.lengths.defined(),
                                   .has_grad_x = op.grad_x.defined()},
        params,
        {.x = op.x,
         .lengths = op.lengths,
         .gain = op.gain,
         .mean = op.mean,
         .rstd = op.rstd,
         .grad_y = op.grad_y,
         .grad_x = op.grad_x,
         .grad_gain = op.grad_gain,
         .grad_bias = op.grad_bias});
}

}  // namespace headscope::vulkan
