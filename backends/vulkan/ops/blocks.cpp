// BlockLinear and BlockEmbed.
//
// Rule: y and out are overwritten, and share no memory with an input. A sum over k is in F32, in an order that a device
// fixes by shapes: equal operands give equal bits.
#include <algorithm>
#include <bit>

#include "backend/ops/blocks.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/matmul.h"
#include "backends/vulkan/vulkan_backend_impl.h"

namespace headscope::vulkan {

void VulkanBackend::run(const BlockLinear& op) {
    require_types(op);
    if (op.y.elements() == 0) {
        return;
    }
    if (op.x.dim(1) == 0) {
        run(Fill{.out = op.y, .value = 0.0F});
    } else if (op.x.dim(0) <= kFewBlockRows) {
        multiply_few_by_blocks(op);
    } else {
        multiply_by_blocks(op);
    }
}

// Codes are read once for all rows.
void VulkanBackend::multiply_few_by_blocks(const BlockLinear& op) {
    constexpr std::uint32_t kColumns = 4;  // of a workgroup
    const std::int64_t k = op.x.dim(1);
    BlockLinearParams params{};
    params.m = u32(op.x.dim(0));
    params.k = u32(k);
    params.blocks = u32(blocks_of(k));
    params.x_row = params.m > 1 ? u32(op.x.stride(0)) : params.k;
    params.y_row = u32(op.y.dim(1));
    params.alpha = op.alpha;
    const BlockForm form = form_of(op.codes, op.scales, k);
    for_row_tiles(op.codes.dim(0), op.codes.dim(1), [&](std::int64_t first, std::int64_t count) {
        const Tensor codes = op.codes.narrow(0, first, count);
        const Tensor scales = op.scales.narrow(0, first, count);
        const Tensor y = op.y.narrow(1, first, count);
        params.n = u32(count);
        const std::uint32_t aligned = k % kBlockColumns == 0 && params.x_row % 4 == 0 ? params.k : 1;
        stream_.dispatch(row_launch(Kernel::BlockLinear, (static_cast<std::uint64_t>(count) + kColumns - 1) / kColumns,
                                    std::uint64_t{params.m} * kColumns * params.k / 16 + 1),
                         BlockLinearConstants{.fours = vec4_loads(aligned, {&op.x, &codes}),
                                              .rows = std::bit_ceil(params.m),
                                              .columns = kColumns,
                                              .eight_bits = form.bits == 8,
                                              .factors = form.factors},
                         params, {.x = op.x, .codes = codes, .scales = scales, .y = y});
    });
}

// Some rows of the weight at a time become numbers, and a product as others.
void VulkanBackend::multiply_by_blocks(const BlockLinear& op) {
    constexpr std::int64_t kNumbers = 1 << 22;
    const std::int64_t k = op.x.dim(1);
    const std::int64_t at_once = std::clamp<std::int64_t>(kNumbers / k, 1, op.codes.dim(0));
    const Tensor room = empty({1, at_once, k}, DType::F32);
    for (std::int64_t first = 0; first < op.codes.dim(0); first += at_once) {
        const std::int64_t count = std::min(at_once, op.codes.dim(0) - first);
        const Tensor wide = room.narrow(1, 0, count);
        run(BlockEmbed{
            .codes = op.codes.narrow(0, first, count), .scales = op.scales.narrow(0, first, count), .out = wide});
        run(Matmul{.a = op.x,
                   .b = wide.reshape({count, k}),
                   .out = op.y.narrow(1, first, count),
                   .transpose_b = true,
                   .alpha = op.alpha});
    }
}

void VulkanBackend::run(const BlockEmbed& op) {
    require_types(op);
    if (op.out.elements() == 0) {
        return;
    }
    const Tensor out = as_rows(op.out);
    const Tensor ids = op.ids.defined() ? op.ids.reshape({op.ids.elements()}) : Tensor();
    BlockEmbedParams params{};
    params.columns = u32(op.out.dim(2));
    params.blocks = u32(blocks_of(op.out.dim(2)));
    params.vocabulary = u32(op.codes.dim(0));
    params.scale = op.scale;
    const BlockForm form = form_of(op.codes, op.scales, op.out.dim(2));
    const auto with_table = [&](std::int64_t table_first, std::int64_t table_rows) {
        const Tensor codes = op.codes.narrow(0, table_first, table_rows);
        const Tensor scales = op.scales.narrow(0, table_first, table_rows);
        params.table_first = u32(table_first);
        params.table_rows = u32(table_rows);
        for_row_tiles(out.dim(0), out.dim(1), [&](std::int64_t first, std::int64_t count) {
            params.first_row = u32(first);
            const Tensor ids_part = part_of(ids, first, count);
            const Tensor out_part = out.narrow(0, first, count);
            stream_.dispatch(
                row_launch(Kernel::BlockEmbed, static_cast<std::uint64_t>(count), params.columns),
                BlockEmbedConstants{.eight_bits = form.bits == 8, .has_ids = op.ids.defined(), .factors = form.factors},
                params, {.ids = ids_part, .codes = codes, .scales = scales, .out = out_part});
        });
    };
    if (op.codes.dim(0) == 0) {
        with_table(0, 0);  // every id is out of range
    } else {
        for_row_tiles(op.codes.dim(0), op.codes.dim(1), with_table);
    }
}

}  // namespace headscope::vulkan
