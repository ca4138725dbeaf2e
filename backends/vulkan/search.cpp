// LogSoftmaxTopK and GatherRows.
#include <algorithm>
#include <array>

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

}  // namespace

void VulkanBackend::run(const LogSoftmaxTopK& op) {
    require_dtype(LogSoftmaxTopK::kName, {&op.logits, &op.values}, DType::F32);
    LogSoftmaxTopKParams params{};
    constexpr std::uint32_t kMostKept = 8;  // in registers: a beam of four asks for as many
    params.classes = u32(op.logits.dim(1));
    params.k = u32(op.values.dim(1));
    for_row_tiles(op.logits.dim(0), op.logits.dim(1), [&](std::int64_t first, std::int64_t count) {
        const Tensor logits = op.logits.narrow(0, first, count);
        const Tensor values = op.values.narrow(0, first, count);
        const Tensor indices = op.indices.narrow(0, first, count);
        const std::uint64_t work = std::uint64_t{params.classes} * params.k;
        Launch launch = long_row_launch(Kernel::LogSoftmaxTopK, static_cast<std::uint64_t>(count), work);
        launch.specialisation.extra[1] = std::min(params.k, kMostKept);
        stream_.dispatch(by_fours(launch, params.classes, {&logits}), params, std::array{&logits, &values, &indices});
    });
}

void VulkanBackend::run(const GatherRows& op) {
    if (op.out.elements() == 0) {
        return;
    }
    constexpr std::uint32_t kQuietNan = 0x7fc00000U;
    if (op.x.dtype != DType::I32) {
        require_dtype(GatherRows::kName, {&op.x, &op.out}, DType::F32);
    }
    const RowRuns runs = row_runs(op.x, op.out);
    const std::array<const Tensor*, 2> both{&op.x, &op.out};
    GatherRowsParams params{};
    params.outer = u32(runs.outer);
    params.inner = u32(runs.inner);
    params.words = u32(runs.length);
    for (std::size_t side = 0; side < both.size(); ++side) {
        params.row_step[side] = u32(both[side]->stride(0));
        params.outer_step[side] = u32(runs.outer_step[side]);
        params.inner_step[side] = u32(runs.inner_step[side]);
    }
    params.rows_in = u32(op.x.dim(0));
    params.missing = op.x.dtype == DType::I32 ? 0 : kQuietNan;
    const auto in_fours = [](const std::uint32_t(&steps)[2]) { return steps[0] % 4 == 0 && steps[1] % 4 == 0; };
    const bool fours = in_fours(params.row_step) && in_fours(params.outer_step) && in_fours(params.inner_step);
    const auto columns = static_cast<std::uint64_t>(op.out.elements() / op.out.dim(0));
    const auto with_x = [&](std::int64_t x_first, std::int64_t x_rows) {
        const Tensor x = op.x.narrow(0, x_first, x_rows);
        params.x_first = u32(x_first);
        params.x_rows = u32(x_rows);
        for_row_tiles(op.out.dim(0), row_reach(op.out), [&](std::int64_t first, std::int64_t count) {
            const Tensor index = op.index.narrow(0, first, count);
            const Tensor out = op.out.narrow(0, first, count);
            const Launch launch = row_launch(Kernel::GatherRows, static_cast<std::uint64_t>(count), columns);
            stream_.dispatch(by_fours(launch, fours ? runs.length : 1, {&x, &out}), params,
                             std::array{&x, &index, &out});
        });
    };
    if (op.x.dim(0) == 0) {
        with_x(0, 0);  // every index is outside
    } else {
        for_row_tiles(op.x.dim(0), row_reach(op.x), with_x);
    }
}

}  // namespace headscope::vulkan
