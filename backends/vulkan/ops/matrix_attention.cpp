// Attention and its backward on matrices, where a head fits a workgroup.
// - Operands in F16, or in F32 where products in F16 are asked for; sums and the softmax are in F32, weights and the
//   gradients of scores are rounded to F16, as the composition stores them.
// - A workgroup has a head, or in backward the heads that share keys, so every output has one owner and sums have one
//   order: results repeat bit for bit.
#include "backend/ops/attention.h"
#include "backends/vulkan/ops/heads.h"
#include "backends/vulkan/vulkan_backend_impl.h"

namespace headscope::vulkan {

namespace {

// As in cooperative_attend_backward.glsl.
constexpr std::uint32_t kWantsQ = 64;
constexpr std::uint32_t kAddsQ = 256;
constexpr std::uint32_t kAddsK = 512;
constexpr std::uint32_t kAddsV = 1024;
constexpr std::uint32_t kThresholdShift = 16;
constexpr std::uint32_t kMostThreshold = 0xFFFF;

bool lies_as(const Tensor& tensor, const Tensor& other) {
    bool same = true;
    for (int dim = 0; tensor.defined() && dim < 3; ++dim) {
        same = same && (tensor.dim(dim) <= 1 || tensor.stride(dim) == other.stride(dim));
    }
    return same;
}

// Push constants have no room for strides of their own.
bool gradients_lie_as_operands(const AttentionBackward& op) {
    return lies_as(op.grad_q, op.q) && lies_as(op.grad_k, op.k) && lies_as(op.grad_v, op.v);
}

template <class Op>
HeadShape shape_of_head(const Op& op) {
    constexpr bool kBackward = requires {
        op.grad_out;
    };
    return {.heads = op.q.dim(0) * (kBackward ? op.k.dim(1) : op.q.dim(1)),
            .heads_of_each = kBackward ? heads_of_group(op) : 1,
            .queries = op.q.dim(2),
            .keys = op.k.dim(2),
            .depth = op.q.dim(3),
            .value_depth = op.v.dim(3),
            .backward = kBackward};
}

template <class Op>
Launch cooperative_launch(const MatrixDevice& device, const HeadPlan& plan, const Op& op, std::uint32_t flags) {
    const HeadsConstants heads = heads_constants(op, flags);
    const HeadShape shape = shape_of_head(op);
    Launch launch;
    launch.kernel = shape.backward ? (device.emulated ? Kernel::AttendBackwardCooperativeEmulated
                                                      : Kernel::AttendBackwardCooperative)
                                   : (device.emulated ? Kernel::AttendCooperativeEmulated : Kernel::AttendCooperative);
    launch.specialisation.local_size = plan.subgroups * device.subgroup_size;
    launch.specialisation.constants = AttendCooperativeConstants{.depth = heads.depth,
                                                                 .value_depth = heads.value_depth,
                                                                 .rows = plan.rows,
                                                                 .flags = heads.flags,
                                                                 .heads_of_group = heads.heads_of_group,
                                                                 .m = device.sizes.m,
                                                                 .n = device.sizes.n,
                                                                 .k = device.sizes.k,
                                                                 .subgroup_size = device.subgroup_size,
                                                                 .subgroups = plan.subgroups,
                                                                 .padded_keys = plan.padded_keys}
                                          .values();
    launch.groups = static_cast<std::uint64_t>(shape.heads);
    const RowWork row{shape.backward ? 5 : 2, std::max(shape.depth, shape.value_depth), shape.keys};
    launch.work_per_group = static_cast<std::uint64_t>(shape.queries * shape.heads_of_each) * row.operations();
    return launch;
}

}  // namespace

template <class Op>
std::optional<HeadPlan> VulkanBackend::plan_by_matrices(const Op& op) const {
    // As for products: F32 operands are rounded to F16 when staged; F16 ones are staged unchanged.
    const bool in_f16 = op.q.dtype == DType::F16 || (op.q.dtype == DType::F32 && op.compute == Compute::F16);
    if (!in_f16 || !attends_by(product_device_.matrices, options_)) {
        return std::nullopt;
    }
    if constexpr (requires { op.grad_out; }) {
        if (!gradients_lie_as_operands(op) || dropout_params(op.dropout).threshold > kMostThreshold) {
            return std::nullopt;
        }
    }
    return plan_head(*product_device_.matrices, shape_of_head(op));
}

template std::optional<HeadPlan> VulkanBackend::plan_by_matrices(const Attention& op) const;
template std::optional<HeadPlan> VulkanBackend::plan_by_matrices(const AttentionBackward& op) const;

void VulkanBackend::attend_by_matrices(const Attention& op, const HeadPlan& plan) {
    const AttendParams params = attend_params(op);
    const std::uint32_t flags = wide_flags(options_, {&op.q, &op.k, &op.v}, {&op.out}) |
                                (params.drop_threshold != 0 ? kDrops : 0) | (op.log_sums.defined() ? kKeepsSums : 0);
    stream_.dispatch(cooperative_launch(*product_device_.matrices, plan, op, flags), params, attend_operands(op));
}

void VulkanBackend::attend_backward_by_matrices(const AttentionBackward& op, const HeadPlan& plan) {
    auto params = head_params<AttendBackwardCooperativeParams>(op);
    const DropoutParams dropout = dropout_params(op.dropout);
    params.drop_seed = dropout.seed;
    params.drop_site = dropout.site;
    const std::uint32_t flags =
        wide_flags(options_, {&op.q, &op.k, &op.v, &op.grad_out}, {&op.grad_q, &op.grad_k, &op.grad_v}) |
        (dropout.threshold != 0 ? kDrops : 0) | (op.grad_q.defined() ? kWantsQ : 0) |
        (op.grad_k.defined() ? kWantsK : 0) | (op.grad_v.defined() ? kWantsV : 0) |
        (op.write_q == Write::Accumulate ? kAddsQ : 0) | (op.write_k == Write::Accumulate ? kAddsK : 0) |
        (op.write_v == Write::Accumulate ? kAddsV : 0) | dropout.threshold << kThresholdShift;
    stream_.dispatch(cooperative_launch(*product_device_.matrices, plan, op, flags), params,
                     {.q = op.q,
                      .key_lengths = op.mask.key_lengths,
                      .query_offset = op.mask.query_offset,
                      .k = op.k,
                      .v = op.v,
                      .step = op.dropout.step,
                      .ordinals = op.dropout.ordinals,
                      .grad_out = op.grad_out,
                      .key_ranges = op.mask.key_ranges,
                      .grad_q = op.grad_q,
                      .grad_k = op.grad_k,
                      .grad_v = op.grad_v});
}

}  // namespace headscope::vulkan
