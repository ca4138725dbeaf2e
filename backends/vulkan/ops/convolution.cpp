// Unfold and SumTaps.
//
// Rule: unfold's out is overwritten; sum_taps adds to out with Write::Accumulate. Nothing is in place. The taps of an
// element are added in their order.
#include <algorithm>

#include "backend/ops/convolution.h"
#include "backends/vulkan/vulkan_backend_impl.h"

namespace headscope::vulkan {

namespace {

template <class Params, class Op>
Params params_of(const Op& op, std::int64_t channels) {
    Params params{};
    params.inputs = u32(op.x.dim(1));
    params.positions = u32(op.out.dim(1));
    params.channels = u32(channels);
    params.taps = u32(op.taps);
    params.first = static_cast<std::int32_t>(op.first);
    params.step = static_cast<std::int32_t>(op.step);
    return params;
}

// Elements of a sentence in the larger of both tensors, which a binding must hold.
template <class Op>
std::int64_t sentence_elements(const Op& op) {
    return std::max(op.x.dim(1) * op.x.dim(2), op.out.dim(1) * op.out.dim(2));
}

}  // namespace

void VulkanBackend::run(const Unfold& op) {
    require_types(op);
    if (op.out.elements() == 0) {
        return;
    }
    auto params = params_of<UnfoldParams>(op, op.x.dim(2));
    for_row_tiles(op.x.dim(0), sentence_elements(op), [&](std::int64_t first, std::int64_t count) {
        params.rows = u32(count) * params.positions;
        const Tensor x = op.x.narrow(0, first, count);
        const Tensor out = op.out.narrow(0, first, count);
        stream_.dispatch(vec4_launch(Kernel::Unfold, std::uint64_t{params.rows} * params.taps, params.channels),
                         UnfoldConstants{.fours = vec4_loads(params.channels, {&x, &out}),
                                         .has_lengths = op.lengths.defined(),
                                         .has_ranges = op.ranges.defined()},
                         params,
                         {.x = x,
                          .lengths = part_of(op.lengths, first, count),
                          .ranges = part_of(op.ranges, first, count),
                          .out = out});
    });
}

void VulkanBackend::run(const SumTaps& op) {
    require_types(op);
    if (op.out.elements() == 0) {
        return;
    }
    auto params = params_of<SumTapsParams>(op, op.out.dim(2));
    for_row_tiles(op.x.dim(0), sentence_elements(op), [&](std::int64_t first, std::int64_t count) {
        params.rows = u32(count) * params.positions;
        const Tensor x = op.x.narrow(0, first, count);
        const Tensor out = op.out.narrow(0, first, count);
        stream_.dispatch(vec4_launch(Kernel::SumTaps, params.rows, params.channels, params.taps),
                         SumTapsConstants{.fours = vec4_loads(params.channels, {&x, &op.weights, &out}),
                                          .has_lengths = op.lengths.defined(),
                                          .has_ranges = op.ranges.defined(),
                                          .has_weights = op.weights.defined(),
                                          .accumulates = op.write == Write::Accumulate},
                         params,
                         {.x = x,
                          .weights = op.weights,
                          .lengths = part_of(op.lengths, first, count),
                          .ranges = part_of(op.ranges, first, count),
                          .out = out});
    });
}

}  // namespace headscope::vulkan
