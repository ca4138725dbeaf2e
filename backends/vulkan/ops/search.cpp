// LogSoftmaxTopK and GatherRows.
//
// Rule: values, indices and out are overwritten, and share no memory with an input. Equal logits rank by the smaller
// index, NaN last. A row's sum is in F32, in an order that the number of classes and the dtype decide.
#include <algorithm>
#include <array>
#include <limits>

#include "backend/ops/search.h"
#include "backend/row_runs.h"
#include "backends/vulkan/vulkan_backend_impl.h"
#include "support/check.h"

namespace headscope::vulkan {

namespace {

// Elements that a binding must hold for each entry of dimension 0.
std::int64_t row_reach(const Tensor& tensor) {
    std::int64_t row = 1;
    for (int dim = 1; dim < tensor.rank(); ++dim) {
        row += (tensor.dim(dim) - 1) * tensor.stride(dim);
    }
    return tensor.dim(0) > 1 ? std::max(row, tensor.stride(0)) : row;
}

// How a workgroup of `lanes` invocations shares a row: one run or several short ones, with up to most_steps vec4s each.
void share_row(GatherRowsParams& params, std::uint32_t lanes, std::uint32_t most_steps) {
    const std::uint32_t in_step = 4 * lanes;
    const std::uint32_t steps = (params.words + in_step - 1) / in_step;  // for a run
    params.part_words = in_step * std::min(steps, most_steps);
    params.word_parts = (params.words + params.part_words - 1) / params.part_words;
    params.part_runs = std::clamp(most_steps / steps, 1U, params.runs);
    params.run_parts = (params.runs + params.part_runs - 1) / params.part_runs;
}

}  // namespace

void VulkanBackend::run(const LogSoftmaxTopK& op) {
    require_types(op);
    LogSoftmaxTopKParams params{};
    constexpr std::uint32_t kMostKept = 8;  // in registers
    params.classes = u32(op.logits.dim(1));
    params.k = u32(op.values.dim(1));
    for_row_tiles(op.logits.dim(0), op.logits.dim(1), [&](std::int64_t first, std::int64_t count) {
        const Tensor logits = op.logits.narrow(0, first, count);
        const std::uint64_t work = std::uint64_t{params.classes} * params.k;
        stream_.dispatch(long_row_launch(Kernel::LogSoftmaxTopK, static_cast<std::uint64_t>(count), work),
                         LogSoftmaxTopKConstants{.fours = vec4_loads(params.classes, {&logits}),
                                                 .kept = std::min(params.k, kMostKept)},
                         params,
                         {.logits = logits,
                          .values = op.values.narrow(0, first, count),
                          .indices = op.indices.narrow(0, first, count)});
    });
}

void VulkanBackend::run(const GatherRows& op) {
    if (op.out.elements() == 0) {
        return;
    }
    if (op.x.dtype != DType::I32) {
        require_types(op);
    }
    const RowRuns runs = row_runs(op.x, op.out);
    const std::array<const Tensor*, 2> both{&op.x, &op.out};
    GatherRowsParams params{};
    params.runs = u32(runs.outer * runs.inner);
    params.inner = u32(runs.inner);
    params.words = u32(runs.length);
    Launch launch = row_launch(Kernel::GatherRows, 1, 1);
    const bool few_cores = device_.capabilities().software;  // where a workgroup costs as much as several steps
    share_row(params, launch.specialisation.local_size, few_cores ? 1024 : 4);
    for (std::size_t side = 0; side < both.size(); ++side) {
        params.row_step[side] = u32(both[side]->stride(0));
        params.outer_step[side] = u32(runs.outer_step[side]);
        params.inner_step[side] = u32(runs.inner_step[side]);
    }
    params.rows_in = u32(op.x.dim(0));
    params.missing = op.x.dtype == DType::I32 ? 0 : bits_of(std::numeric_limits<float>::quiet_NaN(), op.x.dtype);
    const auto in_fours = [](const std::uint32_t(&steps)[2]) { return steps[0] % 4 == 0 && steps[1] % 4 == 0; };
    const bool fours = in_fours(params.row_step) && in_fours(params.outer_step) && in_fours(params.inner_step);
    const std::uint64_t parts = std::uint64_t{params.run_parts} * params.word_parts;
    launch.work_per_group = std::uint64_t{32} * params.part_runs * params.part_words;
    const auto with_x = [&](std::int64_t x_first, std::int64_t x_rows) {
        const Tensor x = op.x.narrow(0, x_first, x_rows);
        params.x_first = u32(x_first);
        params.x_rows = u32(x_rows);
        for_row_tiles(op.out.dim(0), row_reach(op.out), [&](std::int64_t first, std::int64_t count) {
            const Tensor out = op.out.narrow(0, first, count);
            launch.groups = static_cast<std::uint64_t>(count) * parts;
            stream_.dispatch(launch, FoursConstants{.fours = vec4_loads(fours ? runs.length : 1, {&x, &out})}, params,
                             {.x = x, .index = op.index.narrow(0, first, count), .out = out});
        });
    };
    if (op.x.dim(0) == 0) {
        with_x(0, 0);  // every index is out of range
    } else {
        for_row_tiles(op.x.dim(0), row_reach(op.x), with_x);
    }
}

}  // namespace headscope::vulkan
