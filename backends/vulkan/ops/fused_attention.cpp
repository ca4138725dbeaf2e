// Attention and its backward as fused ops, in kernels that never write a weight.
// - F32, F16 and BF16 with F32 sums, heads of at most 128 columns, any strides, all masks, dropout; deeper heads are
//   composed of products.
// - Each invocation has one query or a few; decoding's few queries have a workgroup each. On a device with matrices a
//   short sentence's head has a workgroup: matrix_attention.cpp.
// - No atomics and a fixed order: results repeat bit for bit.
#include <algorithm>

#include "backend/long_attention.h"
#include "backend/ops/attention.h"
#include "backend/ops/elementwise.h"
#include "backends/vulkan/ops/heads.h"
#include "backends/vulkan/vulkan_backend_impl.h"

namespace headscope::vulkan {

namespace {

// The sentences [first, first + count).
template <class Op>
Op sentences(Op op, std::int64_t first, std::int64_t count) {
    for (Tensor* tensor : {&op.q, &op.k, &op.v, &op.out, &op.log_sums, &op.mask.key_lengths, &op.mask.key_ranges,
                           &op.dropout.ordinals}) {
        *tensor = part_of(*tensor, first, count);
    }
    if constexpr (requires { op.grad_out; }) {
        for (Tensor* tensor : {&op.grad_out, &op.grad_q, &op.grad_k, &op.grad_v}) {
            *tensor = part_of(*tensor, first, count);
        }
    }
    return op;
}

// The groups [first, first + count) of an op without log-sums, with a copy of their keys and values in which the rows
// lie side by side.
Attention groups_apart(Backend& backend, const Attention& op, std::int64_t first, std::int64_t count) {
    Attention part = op;
    const std::int64_t heads = heads_of_group(op);
    for (Tensor* tensor : {&part.q, &part.out}) {
        *tensor = tensor->narrow(1, first * heads, count * heads);
    }
    for (Tensor* tensor : {&part.k, &part.v}) {
        const Tensor own = tensor->narrow(1, first, count);
        *tensor = backend.empty(own.shape, own.dtype);
        backend.run(Copy{.x = own, .out = *tensor});
    }
    return part;
}

constexpr std::int64_t kDeepest = 128;  // deeper heads have no kernels
constexpr std::int64_t kRowWords = 4;   // for each query, from attend_backward_rows.comp
// llvmpipe leaves a loop after 65,535 turns. Kernels have a few more turns than these, before and behind the keys.
constexpr std::int64_t kMostTurns = 60000;
// Up to this many queries, each gets a workgroup whose invocations share the keys.
constexpr std::int64_t kFewQueries = 4;

// The turns of the longest loop of an op's kernels, over keys or, for the gradients of keys, over the queries of all
// heads that share them. Where each query has a workgroup, at least four invocations share its keys.
template <class Op>
std::int64_t turns_of_loop(const Op& op, bool with_backward) {
    const std::int64_t queries = op.q.dim(2);
    const std::int64_t keys = op.mask.most(op.k.dim(2));
    if (with_backward) {
        return std::max(keys, op.mask.most(queries) * heads_of_group(op));
    }
    return queries <= kFewQueries ? keys / 4 : keys;
}

// What attend_backward_rows.comp writes: the dropout rule, and for each head three numbers of its own and its queries.
Shape backward_rows(const AttentionBackward& op) {
    return {1 + op.q.dim(0) * op.q.dim(1) * (1 + op.q.dim(2)), kRowWords};
}

}  // namespace

// The head depth for which an invocation's registers hold four numbers per column.
std::int64_t VulkanBackend::deepest_in_registers() const {
    return device_.capabilities().subgroup_sizes.share_registers() ? 16 : 32;
}

// The kernels multiply in F32; rounded products are composed.
//
// On a GPU composed attention waits for its weights to go to memory and back. A fused kernel keeps two numbers for each
// column of its head, four in backward (three for deep heads), in at most 255 registers, on Intel 128 with the smallest
// subgroups of 8. These are reasons, not measurements. llvmpipe has the weights in its caches, and takes seconds to
// compile kernels that keep more than a few hundred columns. Measured there in milliseconds of all threads, 8 heads of
// 32 columns, fused against composed:
//   160 sentences of 25 x 25   21 to 47, backward 66 to 83 with the weights kept and 119 without
//   1024 x 1024                130 to 214, backward 344 to 360 and 560
//   64 sentences, one query of 10, 30, 60 keys   0.8 to 1.1, 1.3 to 2.1, 2.1 to 2.9
// One query is faster fused at any depth; otherwise heads of 64 columns lose a tenth and heads of 128 take three times
// as long. Weights that do not fit a binding are never written, nor those that a narrow window leaves mostly 0, nor
// those of a long sentence (long_attention.h), unless it is too long for the loops of llvmpipe.
template <class Op>
bool VulkanBackend::fuses(const Op& op, bool with_backward) const {
    const Tensor& q = op.q;
    const Tensor& k = op.k;
    const std::int64_t depth = std::max(q.dim(3), op.v.dim(3));
    const bool is_never_whole = op.mask.is_narrow(k.dim(2)) || is_long_attention(q.dim(2), k.dim(2));
    const bool loops_end_early = device_.capabilities().software && turns_of_loop(op, with_backward) > kMostTurns;
    if (loops_end_early || depth > kDeepest || (op.compute != Compute::F32 && !is_never_whole) ||
        options_.fused_attention == FusedAttention::Never) {
        return false;
    }
    if (options_.fused_attention == FusedAttention::Always || is_never_whole) {
        return true;
    }
    const std::int64_t most = deepest_in_registers();
    const std::int64_t fast_up_to = device_.capabilities().software || with_backward ? most : 2 * most;
    const auto weights = static_cast<std::uint64_t>(q.dim(0) * q.dim(1) * q.dim(2) * k.dim(2));
    return depth <= fast_up_to || (q.dim(2) <= kFewQueries && !with_backward) ||
           weights * sizeof(float) > stream_.max_binding_bytes();
}

// Reading keys of several rows in place takes the place of copying them, so it need not be faster than composed.
Support VulkanBackend::key_rows(std::int64_t depth) const {
    return depth <= kDeepest && options_.fused_attention != FusedAttention::Never ? Support{}
                                                                                  : Backend::key_rows(depth);
}

// By the kernel for few queries. Where the cache of all layers is larger than a binding, the keys of this one are
// copied first, as many groups at a time as a binding holds.
void VulkanBackend::attend_by_rows(const Attention& op) {
    const std::int64_t groups = op.k.dim(1);
    const std::int64_t depth = std::max(op.q.dim(3), op.v.dim(3));
    const bool loops_end_early = device_.capabilities().software && turns_of_loop(op, false) > kMostTurns;
    const bool takes = !loops_end_early && op.q.dim(2) <= kFewQueries && op.dropout.rate == 0.0F &&
                       key_rows(depth).level == SupportLevel::Native &&
                       fit_bindings({&op.q, &op.out, &op.log_sums, &op.key_rows}) &&
                       (fit_bindings({&op.k, &op.v}) || !op.log_sums.defined());
    std::int64_t most = takes ? groups : 0;
    while (most > 0 && !fits_binding(op.k.dim(0) * most * op.k.dim(2) * depth, op.k.dtype)) {
        most /= 2;
    }
    if (most == 0) {
        Backend::run(op);
    } else if (op.out.elements() > 0 && fit_bindings({&op.k, &op.v})) {
        attend(op);
    } else if (op.out.elements() > 0) {
        for (std::int64_t first = 0; first < groups; first += most) {
            attend(groups_apart(*this, op, first, std::min(most, groups - first)));
        }
    }
}

bool VulkanBackend::fit_bindings(std::initializer_list<const Tensor*> tensors) const {
    return std::all_of(tensors.begin(), tensors.end(),
                       [this](const Tensor* tensor) { return !tensor->defined() || fits_binding(*tensor); });
}

void VulkanBackend::run(const Attention& op) {
    require_types(op);
    const std::int64_t batch = op.q.dim(0);
    if (op.key_rows.defined()) {
        attend_by_rows(op);
        return;
    }
    const bool fits = fit_bindings({&op.q, &op.k, &op.v, &op.out, &op.log_sums});
    const std::optional<HeadPlan> by_matrices = plan_by_matrices(op);
    if ((!by_matrices && !fuses(op, op.log_sums.defined())) || (!fits && batch == 1)) {
        Backend::run(op);
    } else if (!fits) {
        run(sentences(op, 0, batch / 2));
        run(sentences(op, batch / 2, batch - batch / 2));
    } else if (op.q.dim(0) * op.q.dim(1) * op.q.dim(2) > 0) {
        by_matrices ? attend_by_matrices(op, *by_matrices) : attend(op);
    }
}

// On matrices nothing of the forward is read. Otherwise composed whenever the forward was: then there are no log-sums
// to read.
void VulkanBackend::run(const AttentionBackward& op) {
    require_types(op);
    const std::int64_t batch = op.q.dim(0);
    const bool fits =
        static_cast<std::uint64_t>(backward_rows(op).elements()) * sizeof(std::uint32_t) <=
            stream_.max_binding_bytes() &&
        fit_bindings({&op.q, &op.k, &op.v, &op.out, &op.grad_out, &op.log_sums, &op.grad_q, &op.grad_k, &op.grad_v});
    const std::optional<HeadPlan> by_matrices = plan_by_matrices(op);
    if ((!by_matrices && !fuses(op, true)) || (!fits && batch == 1)) {
        Backend::run(op);
    } else if (!fits) {
        run(sentences(op, 0, batch / 2));
        run(sentences(op, batch / 2, batch - batch / 2));
    } else if (op.q.dim(0) * op.q.dim(1) > 0) {
        by_matrices ? attend_backward_by_matrices(op, *by_matrices) : attend_backward(op);
    }
}

// Workgroups that share the rows of each head. An invocation's loads serve all its rows, so on llvmpipe it has several:
// as many as there are, limited by two seconds of compiling. On a GPU one row fills its registers.
Launch VulkanBackend::head_launch(Kernel kernel, const Tensor& rows, const RowWork& work,
                                  HeadsConstants constants) const {
    constexpr std::int64_t kMostColumns = 384;
    const Capabilities& found = device_.capabilities();
    const std::uint32_t lanes = std::clamp(found.subgroup_size, found.software ? 4U : 32U, 64U);
    std::uint32_t each = 1;
    while (found.software && work.wide && each < 4 && 2 * each * work.products * work.depth <= kMostColumns &&
           each * lanes < u32(rows.dim(2))) {
        each *= 2;
    }
    const std::int64_t of_group = std::int64_t{each} * lanes;
    const std::int64_t groups = (rows.dim(2) + of_group - 1) / of_group;
    Launch launch = launch_of(kernel);
    launch.specialisation.local_size = lanes;
    constants.rows = each;
    launch.specialisation.constants = constants.values();
    launch.groups = static_cast<std::uint64_t>(groups * rows.dim(0) * rows.dim(1));
    launch.work_per_group = static_cast<std::uint64_t>(of_group) * work.operations();
    return launch;
}

// A workgroup for each query. On a GPU a few neighbouring invocations share each key; llvmpipe is slower that way.
Launch VulkanBackend::few_launch(const Attention& op, const RowWork& work, const HeadsConstants& constants) const {
    constexpr std::uint32_t kMostShare = 8;
    const Capabilities& found = device_.capabilities();
    const auto rows = static_cast<std::uint64_t>(op.q.dim(0) * op.q.dim(1) * op.q.dim(2));
    Launch launch = row_launch(Kernel::AttendFew, rows, work.operations() / 32);
    std::uint32_t& lanes = launch.specialisation.local_size;
    const bool shares =
        found.subgroup_arithmetic && (!found.software || options_.fused_attention == FusedAttention::Always);
    if (options_.row_lanes == 0 && shares && found.whole_subgroups(found.subgroup_size)) {
        lanes = found.subgroup_size;
    }
    std::uint32_t share = 1;
    while (shares && found.whole_subgroups(lanes) && share < kMostShare && 2 * share <= found.subgroup_size &&
           8 * share <= u32(work.depth)) {
        share *= 2;
    }
    launch.specialisation.constants = AttendFewConstants{.depth = constants.depth,
                                                         .value_depth = constants.value_depth,
                                                         .rows = constants.rows,
                                                         .flags = constants.flags,
                                                         .heads_of_group = constants.heads_of_group,
                                                         .share = share}
                                          .values();
    return launch;
}

// llvmpipe uses loops for what GPUs keep in registers, unless everything is to run as on a GPU.
std::uint32_t VulkanBackend::head_flags(bool wide, bool drops) const {
    const bool loops = device_.capabilities().software && options_.fused_attention != FusedAttention::Always;
    return (wide ? kWide : 0) | (drops ? kDrops : 0) | (loops ? kLoops : 0);
}

void VulkanBackend::attend(const Attention& op) {
    const AttendParams params = attend_params(op);
    const bool wide = options_.vector_loads && are_wide({&op.q, &op.k, &op.v});
    const RowWork work{2, std::max(op.q.dim(3), op.v.dim(3)), op.k.dim(2), wide};
    const HeadsConstants constants = heads_constants(
        op, head_flags(wide, params.drop_threshold != 0) | (op.log_sums.defined() ? kKeepsSums : 0) |
                (options_.vector_loads && is_wide(op.out) ? kWideOut : 0) | (op.key_rows.defined() ? kNamed : 0));
    stream_.dispatch(op.q.dim(2) <= kFewQueries ? few_launch(op, work, constants)
                                                : head_launch(Kernel::Attend, op.q, work, constants),
                     params, attend_operands(op));
}

// Runs attend_backward_rows.comp for each query.
Tensor VulkanBackend::attend_backward_rows(const AttentionBackward& op) {
    AttendBackwardRowsParams params{};
    params.count = u32(op.log_sums.elements());
    params.heads = u32(op.q.dim(1));
    params.queries = u32(op.q.dim(2));
    params.keys = u32(op.k.dim(2));
    write_strides(op.out, params.out_strides);
    write_strides(op.grad_out, params.grad_strides);
    params.mask = mask_bits(op.mask);
    write_dropout(op.dropout, params);
    const bool wide = options_.vector_loads && are_wide({&op.out, &op.grad_out});
    const Launch launch = vec4_launch(Kernel::AttendBackwardRows, params.count + std::uint64_t{1}, kRowWords,
                                      static_cast<std::uint64_t>(op.v.dim(3)) / 2);
    const Tensor rows = empty(backward_rows(op), DType::I32);
    stream_.dispatch(launch, heads_constants(op, head_flags(wide, params.drop_threshold != 0)), params,
                     {.out = op.out,
                      .key_lengths = op.mask.key_lengths,
                      .query_offset = op.mask.query_offset,
                      .grad_out = op.grad_out,
                      .log_sums = op.log_sums,
                      .ordinals = op.dropout.ordinals,
                      .step = op.dropout.step,
                      .rows = rows,
                      .key_ranges = op.mask.key_ranges});
    return rows;
}

void VulkanBackend::attend_backward(const AttentionBackward& op) {
    const Tensor rows = attend_backward_rows(op);
    const std::int64_t depth = std::max(op.q.dim(3), op.v.dim(3));
    const bool wide = options_.vector_loads && are_wide({&op.q, &op.k, &op.v, &op.grad_out});
    const std::uint32_t head = head_flags(wide, dropout_params(op.dropout).threshold != 0);
    const bool deep = depth > deepest_in_registers() && (head & kLoops) == 0;
    const std::uint32_t flags = head | (deep ? kLoadsAgain : 0);
    if (op.grad_q.defined()) {
        auto params = head_params<AttendBackwardQueriesParams>(op);
        write_strides(op.grad_q, params.grad_q_strides);
        params.accumulate = op.write_q == Write::Accumulate ? 1 : 0;
        const HeadsConstants constants =
            heads_constants(op, flags | (options_.vector_loads && is_wide(op.grad_q) ? kWideOut : 0));
        stream_.dispatch(head_launch(Kernel::AttendBackwardQueries, op.q, {3, depth, op.k.dim(2), wide}, constants),
                         params,
                         {.q = op.q, .k = op.k, .v = op.v, .grad_out = op.grad_out, .rows = rows, .grad_q = op.grad_q});
    }
    if (op.grad_k.defined() || op.grad_v.defined()) {
        auto params = head_params<AttendBackwardKeysParams>(op);
        write_strides(op.grad_k, params.grad_k_strides);
        write_strides(op.grad_v, params.grad_v_strides);
        params.accumulate = (op.write_k == Write::Accumulate ? 1U : 0U) | (op.write_v == Write::Accumulate ? 2U : 0U);
        const auto dispatch = [&](std::uint32_t wants) {
            const std::int64_t products = 1 + ((wants & kWantsK) != 0 ? 2 : 0) + ((wants & kWantsV) != 0 ? 1 : 0);
            const bool wide_out = options_.vector_loads && are_wide({&op.grad_k, &op.grad_v});
            const HeadsConstants constants = heads_constants(op, flags | wants | (wide_out ? kWideOut : 0));
            stream_.dispatch(head_launch(Kernel::AttendBackwardKeys, op.k,
                                         {products, depth, op.q.dim(2) * heads_of_group(op), wide}, constants),
                             params,
                             {.q = op.q,
                              .k = op.k,
                              .v = op.v,
                              .grad_out = op.grad_out,
                              .rows = rows,
                              .grad_k = op.grad_k,
                              .grad_v = op.grad_v});
        };
        const std::uint32_t wants = (op.grad_k.defined() ? kWantsK : 0) | (op.grad_v.defined() ? kWantsV : 0);
        if (wants == (kWantsK | kWantsV) && deep) {
            dispatch(kWantsK);
            dispatch(kWantsV);
        } else {
            dispatch(wants);
        }
    }
}

}  // namespace headscope::vulkan
