// SquareSum, StepControl, Adam.
//
// Rule: parameter, m, v and working change in place, none of them if Skip is 1; square_sum's out is added to with
// Write::Accumulate. Nothing aliases. Squares are summed over fixed parts, then over the parts: no atomics.
#include <algorithm>

#include "backend/ops/elementwise.h"
#include "backend/ops/optimizer.h"
#include "backends/vulkan/vulkan_backend_impl.h"

namespace headscope::vulkan {

void VulkanBackend::run(const SquareSum& op) {
    require_types(op);
    // Long enough to keep a workgroup busy, short enough that the second level adds few numbers.
    constexpr std::int64_t kMostPart = 16384;
    const auto binding = static_cast<std::int64_t>(stream_.max_binding_bytes() / sizeof(float));
    const std::int64_t part = std::min(kMostPart, binding);
    const std::int64_t elements = op.x.elements();
    if (elements == 0) {
        if (op.write == Write::Overwrite) {
            run(Fill{op.out, 0.0F});
        }
        return;
    }
    const std::int64_t parts = (elements + part - 1) / part;
    const Tensor partial = empty({parts, 1}, DType::F32);
    SquareSumParams params{};
    params.part_elements = u32(part);
    const auto flat_part = [&](const Tensor& x, std::int64_t first_part) {
        const std::int64_t count = (x.elements() + part - 1) / part;
        params.count = u32(x.elements());
        stream_.dispatch(
            long_row_launch(Kernel::SquareSum, static_cast<std::uint64_t>(count), static_cast<std::uint64_t>(part) / 8),
            FoursConstants{.fours = vec4_loads(part % 4 == 0 ? params.count : 1, {&x})}, params,
            {.x = x, .out = partial.narrow(0, first_part, count)});
    };
    const Tensor flat = op.x.reshape({elements});
    // Tiles begin at parts, so that the sum does not depend on the device's limits.
    const std::int64_t tile = binding / part * part;
    for (std::int64_t first = 0; first < elements; first += tile) {
        flat_part(flat.narrow(0, first, std::min(tile, elements - first)), first / part);
    }
    sum_rows(partial, op.out, op.write);
}

void VulkanBackend::run(const StepControl& op) {
    require_types(op);
    StepControlParams params{};
    params.max_norm = op.max_norm;
    params.growth_interval = static_cast<float>(op.scaling.growth_interval);
    params.growth = op.scaling.growth;
    params.backoff = op.scaling.backoff;
    params.least = op.scaling.least;
    params.most = op.scaling.most;
    params.one_minus_beta1 = 1.0F - op.beta1;
    params.one_minus_beta2 = 1.0F - op.beta2;
    stream_.dispatch(row_launch(Kernel::StepControl, 1, 1), params,
                     {.square_sum = op.square_sum, .scalars = op.scalars});
}

void VulkanBackend::run(const Adam& op) {
    require_types(op);
    AdamParams params{};
    params.beta1 = op.beta1;
    params.beta2 = op.beta2;
    params.epsilon = op.epsilon;
    params.one_minus_beta1 = 1.0F - op.beta1;
    params.one_minus_beta2 = 1.0F - op.beta2;
    params.has_decay = op.decay.defined() ? 1 : 0;
    const std::int64_t elements = op.parameter.elements();
    for_row_tiles(Adam::groups(elements), Adam::kGroup, [&](std::int64_t first_group, std::int64_t groups) {
        const std::int64_t first = first_group * Adam::kGroup;
        const std::int64_t count = std::min(groups * Adam::kGroup, elements - first);
        params.count = u32(count);
        const Tensor parameter = op.parameter.narrow(0, first, count);
        const Tensor grad = op.grad.narrow(0, first, count);
        const Tensor m = op.m.narrow(0, first, count);
        const Tensor v = op.v.narrow(0, first, count);
        const Tensor working = part_of(op.working, first, count);
        stream_.dispatch(vec4_launch(Kernel::Adam, 1, params.count, 16),
                         FoursConstants{.fours = vec4_loads(params.count, {&parameter, &grad, &m, &v, &working})},
                         params,
                         {.parameter = parameter,
                          .grad = grad,
                          .m = m,
                          .v = v,
                          .scalars = op.scalars,
                          .old_parameter = parameter,
                          .old_m = m,
                          .old_v = v,
                          .working = working,
                          .decay = part_of(op.decay, first_group, groups)});
    });
}

}  // namespace headscope::vulkan
