// Embed and its backward.
//
// Rule: out is overwritten; grad_table is added to with Write::Accumulate, else rows without an id become 0. Nothing is
// in place. The gradients of one id are added in the order of its positions: no atomics, equal bits each time.
#include <algorithm>
#include <bit>

#include "backend/ops/elementwise.h"
#include "backend/ops/embedding.h"
#include "backends/vulkan/vulkan_backend_impl.h"

namespace headscope::vulkan {

void VulkanBackend::run(const Embed& op) {
    if (op.table.dtype == DType::F16 && op.out.dtype == DType::F32) {
        Embed wide = op;
        wide.table = widened(op.table);
        run(wide);
        return;
    }
    require_types(op);
    if (op.out.elements() == 0) {
        return;
    }
    const Tensor out = as_rows(op.out);
    const Tensor ids = op.ids.reshape({op.ids.elements()});
    EmbedParams params{};
    params.sequence = u32(op.ids.dim(1));
    params.columns = u32(op.table.dim(1));
    params.vocabulary = u32(op.table.dim(0));
    params.has_first = op.first.defined() ? 1 : 0;
    params.max_length = op.positions.defined() ? u32(op.positions.dim(0)) : 0;
    params.positions_stride = op.positions.defined() ? u32(op.positions.stride(0)) : 0;
    params.scale = op.scale;
    const auto with_table = [&](std::int64_t table_first, std::int64_t table_rows) {
        const Tensor table = op.table.narrow(0, table_first, table_rows);
        params.table_first = u32(table_first);
        params.table_rows = u32(table_rows);
        for_row_tiles(out.dim(0), out.dim(1), [&](std::int64_t first, std::int64_t count) {
            params.first_row = u32(first);
            const Tensor ids_part = ids.narrow(0, first, count);
            const Tensor out_part = out.narrow(0, first, count);
            const std::uint32_t columns = params.positions_stride % 4 == 0 ? params.columns : 1;
            stream_.dispatch(
                row_launch(Kernel::Embed, static_cast<std::uint64_t>(count), params.columns),
                EmbedConstants{.fours = vec4_loads(columns, {&table, &op.positions, &out_part}),
                               .has_positions = op.positions.defined()},
                params,
                {.ids = ids_part, .table = table, .positions = op.positions, .first = op.first, .out = out_part});
        });
    };
    if (op.table.dim(0) == 0) {
        with_table(0, 0);  // every id is out of range
    } else {
        for_row_tiles(op.table.dim(0), op.table.dim(1), with_table);
    }
}

void VulkanBackend::run(const EmbedBackward& op) {
    require_types(op);
    if (op.write == Write::Overwrite) {
        run(Fill{.out = op.grad_table, .value = 0.0F});
    }
    const Tensor grad_out = as_rows(op.grad_out);
    const std::int64_t entries = op.ids.elements();
    if (op.grad_table.elements() == 0 || entries == 0) {
        return;
    }
    EmbedBackwardParams params{};
    params.count = u32(entries);
    params.columns = u32(op.grad_table.dim(1));
    params.scale = op.scale;
    // As many invocations as a row has vec4s, up to a workgroup's limit.
    constexpr std::uint32_t kMostLanes = 128;
    const std::uint32_t fours = (params.columns + 3) / 4;
    const std::uint32_t lanes = std::clamp(std::bit_ceil(fours), device_.capabilities().subgroup_size, kMostLanes);
    params.slices = (fours + lanes - 1) / lanes;
    bool accumulates = op.write == Write::Accumulate;
    for_row_tiles(grad_out.dim(0), grad_out.dim(1), [&](std::int64_t grad_first, std::int64_t grad_rows) {
        const Tensor grad_part = grad_out.narrow(0, grad_first, grad_rows);
        params.grad_first = u32(grad_first);
        params.grad_rows = u32(grad_rows);
        for_row_tiles(op.grad_table.dim(0), op.grad_table.dim(1), [&](std::int64_t first, std::int64_t count) {
            params.table_first = u32(first);
            params.table_rows = u32(count);
            const Tensor part = op.grad_table.narrow(0, first, count);
            Launch launch = row_launch(Kernel::EmbedBackward, static_cast<std::uint64_t>(entries), params.columns);
            launch.groups *= params.slices;
            launch.specialisation.local_size = lanes;
            stream_.dispatch(launch,
                             EmbedBackwardConstants{.fours = vec4_loads(params.columns, {&grad_part, &part}),
                                                    .accumulates = accumulates},
                             params, {.ids = op.ids, .order = op.order, .grad_out = grad_part, .grad_table = part});
        });
        accumulates = true;
    });
}

}  // namespace headscope::vulkan
