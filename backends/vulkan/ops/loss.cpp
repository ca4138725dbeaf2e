// SmoothedCrossEntropy.
//
// Rule: loss, nll and grad_logits are overwritten. grad_logits may be logits. A row's maximum and sum are in F32, in an
// order that the number of classes alone decides; pads give 0.
#include "backends/vulkan/vulkan_backend_impl.h"

namespace headscope::vulkan {

void VulkanBackend::run(const SmoothedCrossEntropy& op) {
    require_types(op);
    const std::int64_t rows = op.logits.dim(0);
    SmoothedCrossEntropyParams params{};
    params.classes = u32(op.logits.dim(1));
    params.has_grad = op.grad_logits.defined() ? 1 : 0;
    params.has_grad_scale = op.grad_scale.defined() ? 1 : 0;
    params.has_prior = op.prior.defined() && op.epsilon > 0.0F ? 1 : 0;
    params.other_classes = op.smoothing == Smoothing::OtherClasses ? 1 : 0;
    params.epsilon = op.epsilon;
    for_row_tiles(rows, op.logits.dim(1), [&](std::int64_t first, std::int64_t count) {
        const Tensor logits = op.logits.narrow(0, first, count);
        const Tensor grad = part_of(op.grad_logits, first, count);
        stream_.dispatch(
            long_row_launch(Kernel::SmoothedCrossEntropy, static_cast<std::uint64_t>(count), params.classes),
            FoursConstants{.fours = vec4_loads(params.classes, {&logits, &grad})}, params,
            {.logits = logits,
             .targets = op.targets.narrow(0, first, count),
             .loss = op.loss.narrow(0, first, count),
             .nll = op.nll.narrow(0, first, count),
             .grad_logits = grad,
             .grad_scale = op.grad_scale,
             .prior = op.prior});
    });
}

}  // namespace headscope::vulkan
