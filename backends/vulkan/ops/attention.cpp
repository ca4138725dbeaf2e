// MaskedSoftmax, its backward, SumDiagonals, EditAttention, CacheAppend and MaskKeys.
//
// Rule: outputs are overwritten; grad_scores is added to with Write::Accumulate. Softmax and edits work in place; a
// cache keeps what lies beside the appended rows. A masked entry is exactly 0, and a row's sums have one fixed order.
#include <algorithm>

#include "backend/ops/attention.h"
#include "backend/ops/elementwise.h"
#include "backends/vulkan/vulkan_backend_impl.h"

namespace headscope::vulkan {

namespace {

// `rows` [batch, heads, queries, keys]
template <class Params>
Params masked_params(const Tensor& rows, const AttentionMask& mask) {
    Params params{};
    params.heads = u32(rows.dim(1));
    params.queries = u32(rows.dim(2));
    params.keys = u32(rows.dim(3));
    params.mask = mask_bits(mask);
    return params;
}

// On software devices, with enough rows to keep them busy.
bool many_rows(const Launch& launch, bool software) {
    constexpr std::uint64_t kMany = 1024;
    return software && launch.groups >= kMany;
}

// How workgroups share rows: the shaders' constants.
struct RowShare {
    std::uint32_t rows = 1;  // of a workgroup
    std::uint32_t held = 0;  // vec4s of a row that an invocation keeps
    bool alone = false;      // each invocation takes a row
};

void take_rows(Launch& launch, std::uint32_t rows) {
    launch.groups = (launch.groups + rows - 1) / rows;
    launch.work_per_group *= rows;
}

// A workgroup takes several rows and may keep them. On software devices a workgroup costs as much as a short row, so it
// takes many if there are many.
RowShare rows_together(const Launch& launch, std::uint32_t columns, bool software) {
    constexpr std::uint32_t kRows = 16;
    constexpr std::uint32_t kMostHeld = 4;
    const std::uint32_t in_fours = 4 * launch.specialisation.local_size;
    const std::uint32_t held = (columns + in_fours - 1) / in_fours;
    return {.rows = many_rows(launch, software) ? kRows : 1, .held = held <= kMostHeld ? held : 0};
}

// Or each invocation takes a short row, if there are many: no reductions, and software devices read and write per
// invocation anyway.
RowShare rows_alone_or_together(const Launch& launch, std::uint32_t columns, bool software) {
    constexpr std::uint32_t kShort = 96;
    if (columns > kShort || !many_rows(launch, software)) {
        return rows_together(launch, columns, software);
    }
    return {.rows = launch.specialisation.local_size, .held = (columns + 3) / 4, .alone = true};
}

}  // namespace

void VulkanBackend::run(const MaskedSoftmax& op) {
    require_types(op);
    if (op.weights.elements() == 0) {
        return;
    }
    const Tensor scores = as_rows(op.scores);
    const Tensor weights = as_rows(op.weights);
    auto params = masked_params<MaskedSoftmaxParams>(op.scores, op.mask);
    params.farthest = op.by_distance.defined() ? u32(op.by_distance.dim(0) / 2) : 0;
    for_row_tiles(scores.dim(0), scores.dim(1), [&](std::int64_t first, std::int64_t count) {
        params.first_row = u32(first);
        const Tensor scores_part = scores.narrow(0, first, count);
        const Tensor weights_part = weights.narrow(0, first, count);
        params.rows = u32(count);
        Launch launch = row_launch(Kernel::MaskedSoftmax, static_cast<std::uint64_t>(count), params.keys);
        const RowShare share = rows_alone_or_together(launch, params.keys, device_.capabilities().software);
        take_rows(launch, share.rows);
        stream_.dispatch(launch,
                         MaskedSoftmaxConstants{.fours = vec4_loads(params.keys, {&scores_part, &weights_part}),
                                                .rows = share.rows,
                                                .held = share.held,
                                                .alone = share.alone,
                                                .has_distances = op.by_distance.defined()},
                         params,
                         {.scores = scores_part,
                          .key_lengths = op.mask.key_lengths,
                          .query_offset = op.mask.query_offset,
                          .weights = weights_part,
                          .key_ranges = op.mask.key_ranges,
                          .by_distance = op.by_distance});
    });
}

void VulkanBackend::run(const SumDiagonals& op) {
    require_types(op);
    if (op.sums.elements() == 0) {
        return;
    }
    if (op.x.elements() == 0) {
        run(Fill{.out = op.sums, .value = 0.0F});
        return;
    }
    const Tensor x = as_rows(op.x);
    SumDiagonalsParams params{};
    params.count = u32(op.sums.elements());
    params.heads = u32(op.x.dim(1));
    params.queries = u32(op.x.dim(2));
    params.keys = u32(op.x.dim(3));
    for_row_tiles(x.dim(0), x.dim(1), [&](std::int64_t first, std::int64_t count) {
        params.first_row = u32(first);
        params.rows = u32(count);
        constexpr std::uint32_t kLanes = 128;
        Launch launch = launch_of(Kernel::SumDiagonals);
        launch.specialisation.local_size = kLanes;
        launch.groups = (params.count + std::uint64_t{kLanes} - 1) / kLanes;
        launch.work_per_group = kLanes * std::uint64_t{params.queries};
        stream_.dispatch(launch, SumDiagonalsConstants{.accumulates = first > 0}, params,
                         {.x = x.narrow(0, first, count), .sums = op.sums});
    });
}

void VulkanBackend::run(const MaskedSoftmaxBackward& op) {
    require_types(op);
    if (op.weights.elements() == 0) {
        return;
    }
    const Tensor weights = as_rows(op.weights);
    const Tensor grad_weights = as_rows(op.grad_weights);
    const Tensor grad_scores = as_rows(op.grad_scores);
    MaskedSoftmaxBackwardParams params{};
    params.keys = u32(weights.dim(1));
    for_row_tiles(weights.dim(0), weights.dim(1), [&](std::int64_t first, std::int64_t count) {
        const Tensor weights_part = weights.narrow(0, first, count);
        const Tensor grad_weights_part = grad_weights.narrow(0, first, count);
        const Tensor grad_scores_part = grad_scores.narrow(0, first, count);
        params.rows = u32(count);
        Launch launch = row_launch(Kernel::MaskedSoftmaxBackward, static_cast<std::uint64_t>(count), params.keys);
        const RowShare share = rows_together(launch, params.keys, device_.capabilities().software);
        take_rows(launch, share.rows);
        stream_.dispatch(launch,
                         MaskedSoftmaxBackwardConstants{
                             .fours = vec4_loads(params.keys, {&weights_part, &grad_weights_part, &grad_scores_part}),
                             .rows = share.rows,
                             .held = share.held,
                             .accumulates = op.write == Write::Accumulate},
                         params,
                         {.weights = weights_part, .grad_weights = grad_weights_part, .grad_scores = grad_scores_part});
    });
}

void VulkanBackend::run(const EditAttention& op) {
    require_types(op);
    if (op.out.elements() == 0) {
        return;
    }
    const Tensor weights = as_rows(op.weights);
    const Tensor out = as_rows(op.out);
    auto params = masked_params<EditAttentionParams>(op.weights, op.mask);
    params.off = EditAttention::kOff;
    params.uniform_weight = EditAttention::kUniform;
    for_row_tiles(weights.dim(0), weights.dim(1), [&](std::int64_t first, std::int64_t count) {
        params.first_row = u32(first);
        stream_.dispatch(row_launch(Kernel::EditAttention, static_cast<std::uint64_t>(count), params.keys), params,
                         {.weights = weights.narrow(0, first, count),
                          .key_lengths = op.mask.key_lengths,
                          .query_offset = op.mask.query_offset,
                          .rules = op.rules,
                          .out = out.narrow(0, first, count),
                          .key_ranges = op.mask.key_ranges});
    });
}

void VulkanBackend::run(const CacheAppend& op) {
    require_types(op);
    if (op.x.elements() == 0 || op.cache.elements() == 0) {
        return;
    }
    if (!fits_binding(op.x) || !fits_binding(op.cache)) {
        const int dim = op.x.dim(0) > 1 ? 0 : 1;
        const std::int64_t size = op.x.dim(dim);
        for (const auto& [first, count] :
             {std::pair{std::int64_t{0}, size / 2}, std::pair{size / 2, size - size / 2}}) {
            run(CacheAppend{op.x.narrow(dim, first, count), op.position, op.cache.narrow(dim, first, count)});
        }
        return;
    }
    CacheAppendParams params{};
    params.heads = u32(op.x.dim(1));
    params.sequence = u32(op.x.dim(2));
    params.depth = u32(op.x.dim(3));
    params.capacity = u32(op.cache.dim(2));
    for (std::size_t dim = 0; dim < 3; ++dim) {
        params.x_strides[dim] = u32(op.x.strides[dim]);
        params.cache_strides[dim] = u32(op.cache.strides[dim]);
    }
    const auto rows = static_cast<std::uint64_t>(op.x.elements() / op.x.dim(3));
    stream_.dispatch(row_launch(Kernel::CacheAppend, rows, params.depth), params,
                     {.x = op.x, .position = op.position, .cache = op.cache});
}

void VulkanBackend::run(const MaskKeys& op) {
    require_types(op);
    if (op.out.elements() == 0) {
        return;
    }
    auto params = masked_params<MaskKeysParams>(op.x, op.mask);
    params.queries = u32(op.queries);
    params.keys = u32(op.x.dim(2));
    params.depth = u32(op.x.dim(3));
    const auto run_part = [&](const Tensor& x, const Tensor& out, const AttentionMask& mask, std::int64_t first_key) {
        params.heads = u32(x.dim(1));
        params.rows = u32(x.dim(2));
        params.first_key = u32(first_key);
        params.count = u32(x.dim(0) * x.dim(1) * x.dim(2));
        bool fours = true;
        for (int dim = 0; dim < 3; ++dim) {
            params.x_strides[dim] = u32(x.stride(dim));
            fours = fours && (x.dim(dim) == 1 || x.stride(dim) % 4 == 0);
        }
        stream_.dispatch(vec4_launch(Kernel::MaskKeys, params.count, params.depth),
                         FoursConstants{.fours = vec4_loads(fours ? params.depth : 1, {&x, &out})}, params,
                         {.x = x,
                          .key_lengths = mask.key_lengths,
                          .query_offset = mask.query_offset,
                          .out = out,
                          .key_ranges = mask.key_ranges});
    };
    if (fit_bindings({&op.x, &op.out})) {
        run_part(op.x, op.out, op.mask, 0);
        return;
    }
    for (std::int64_t head = 0; head < op.x.dim(0) * op.x.dim(1); ++head) {
        const std::int64_t batch = head / op.x.dim(1);
        const auto of_head = [&](const Tensor& tensor) {
            return tensor.narrow(0, batch, 1).narrow(1, head % op.x.dim(1), 1);
        };
        const Tensor x = of_head(op.x);
        AttentionMask mask = op.mask;
        mask.key_lengths = part_of(mask.key_lengths, batch, 1);
        mask.key_ranges = part_of(mask.key_ranges, batch, 1);
        std::int64_t most = x.dim(2);
        while (most > 1 && !fits_binding(x.narrow(2, 0, most))) {
            most = (most + 1) / 2;
        }
        for (std::int64_t first = 0; first < x.dim(2); first += most) {
            const std::int64_t count = std::min(most, x.dim(2) - first);
            run_part(x.narrow(2, first, count), of_head(op.out).narrow(2, first, count), mask, first);
        }
    }
}

}  // namespace headscope::vulkan
