// LogSoftmaxTopK and GatherRows.
#include <array>

#include "backends/vulkan/vulkan_backend_impl.h"
#include "support/check.h"

namespace headscope::vulkan {

void VulkanBackend::run(const LogSoftmaxTopK& op) {
    require_dtype(LogSoftmaxTopK::kName, {&op.logits, &op.values}, DType::F32);
    LogSoftmaxTopKParams params{};
    params.classes = u32(op.logits.dim(1));
    params.k = u32(op.values.dim(1));
    for_row_tiles(op.logits.dim(0), op.logits.dim(1), [&](std::int64_t first, std::int64_t count) {
        const Tensor logits = op.logits.narrow(0, first, count);
        const Tensor values = op.values.narrow(0, first, count);
        const Tensor indices = op.indices.narrow(0, first, count);
        const std::uint64_t work = std::uint64_t{params.classes} * params.k;
        stream_.dispatch(long_row_launch(Kernel::LogSoftmaxTopK, static_cast<std::uint64_t>(count), work), params,
                         std::array{&logits, &values, &indices});
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
    const std::int64_t columns = op.out.elements() / op.out.dim(0);
    const Tensor x = op.x.reshape({op.x.dim(0), columns});
    const Tensor out = op.out.reshape({op.out.dim(0), columns});
    GatherRowsParams params{};
    params.columns = u32(columns);
    params.rows_in = u32(x.dim(0));
    params.missing = op.x.dtype == DType::I32 ? 0 : kQuietNan;
    const auto with_x = [&](std::int64_t x_first, std::int64_t x_rows) {
        const Tensor x_part = x.narrow(0, x_first, x_rows);
        params.x_first = u32(x_first);
        params.x_rows = u32(x_rows);
        for_row_tiles(out.dim(0), columns, [&](std::int64_t first, std::int64_t count) {
            const Tensor index = op.index.narrow(0, first, count);
            const Tensor out_part = out.narrow(0, first, count);
            stream_.dispatch(row_launch(Kernel::GatherRows, static_cast<std::uint64_t>(count), columns), params,
                             std::array{&x_part, &index, &out_part});
        });
    };
    if (x.dim(0) == 0) {
        with_x(0, 0);  // every index is outside
    } else {
        for_row_tiles(x.dim(0), columns, with_x);
    }
}

}  // namespace headscope::vulkan
