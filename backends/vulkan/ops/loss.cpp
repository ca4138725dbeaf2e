// SmoothedCrossEntropy.
//
// Rule: loss, nll and grad_logits are overwritten. grad_logits may be logits. A row's maximum and sum are in F32, in an
// order that the number of classes alone decides; pads give 0.
#include <algorithm>

#include "backend/ops/loss.h"
#include "backends/vulkan/vulkan_backend_impl.h"

namespace headscope::vulkan {

namespace {

constexpr std::uint32_t kMostLanes = 512;  // as in shaders/smoothed_cross_entropy.comp
constexpr std::uint32_t kMostHeld = 8;     // vec4s of an invocation: more would crowd its 128 registers

std::uint32_t vec4s_of_lane(std::uint32_t classes, std::uint32_t lanes) {
    return (classes + 4 * lanes - 1) / (4 * lanes);
}

// How many vec4s of a row each invocation keeps, in steps, each of which is a pipeline: all of them, or 0.
std::uint32_t held_fours(const Launch& launch, bool fours, std::uint32_t classes) {
    constexpr std::uint32_t kStep = 4;
    const std::uint32_t all = vec4s_of_lane(classes, launch.specialisation.local_size);
    return fours && all <= kMostHeld ? (all + kStep - 1) / kStep * kStep : 0;
}

}  // namespace

// With as many invocations as keep a row, or with the most that the device has, which read it several times. Tests that
// ask for kMostRowLanes get them on software devices, too.
Launch VulkanBackend::loss_launch(std::uint64_t rows, std::uint32_t classes) const {
    Launch launch = long_row_launch(Kernel::SmoothedCrossEntropy, rows, classes);
    const Capabilities& found = device_.capabilities();
    if (options_.row_lanes == 0 ? found.software : options_.row_lanes != kMostRowLanes) {
        return launch;
    }
    const VkPhysicalDeviceLimits& limits = found.properties.limits;
    const std::uint32_t most =
        std::min({kMostLanes, limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]});
    std::uint32_t& lanes = launch.specialisation.local_size;
    while (vec4s_of_lane(classes, lanes) > kMostHeld && 2 * lanes <= most) {
        lanes *= 2;
    }
    return launch;
}

void VulkanBackend::run(const SmoothedCrossEntropy& op) {
    require_types(op);
    const std::int64_t rows = op.logits.dim(0);
    SmoothedCrossEntropyParams params{};
    params.classes = u32(op.logits.dim(1));
    params.has_grad = op.grad_logits.defined() ? 1 : 0;
    params.has_grad_scale = op.grad_scale.defined() ? 1 : 0;
    params.has_weights = op.weights.defined() ? 1 : 0;
    params.has_prior = op.prior.defined() && op.epsilon > 0.0F ? 1 : 0;
    params.other_classes = op.smoothing == Smoothing::OtherClasses ? 1 : 0;
    params.epsilon = op.epsilon;
    for_row_tiles(rows, op.logits.dim(1), [&](std::int64_t first, std::int64_t count) {
        const Tensor logits = op.logits.narrow(0, first, count);
        const Tensor grad = part_of(op.grad_logits, first, count);
        const Launch launch = loss_launch(static_cast<std::uint64_t>(count), params.classes);
        const bool fours = vec4_loads(params.classes, {&logits, &grad});
        stream_.dispatch(
            launch, SmoothedCrossEntropyConstants{.fours = fours, .held = held_fours(launch, fours, params.classes)},
            params,
            {.logits = logits,
             .targets = op.targets.narrow(0, first, count),
             .loss = op.loss.narrow(0, first, count),
             .nll = op.nll.narrow(0, first, count),
             .grad_logits = grad,
             .grad_scale = op.grad_scale,
             .prior = op.prior,
             .weights = part_of(op.weights, first, count)});
    });
}

}  // namespace headscope::vulkan
