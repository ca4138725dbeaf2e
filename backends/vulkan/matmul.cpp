// Products.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "backends/vulkan/vulkan_backend_impl.h"
#include "support/check.h"

namespace headscope::vulkan {

namespace {

// As numbered in round.glsl.
std::uint32_t rounding_of(Compute compute) {
    switch (compute) {
        case Compute::F32: return 0;
        case Compute::BF16: return 1;
        case Compute::F16: return 2;
        case Compute::TF32: break;
    }
    throw Error(fmt::format("the vulkan backend multiplies in F32, BF16 or F16, asked for {}", name_of(compute)));
}

// The outputs of one invocation.
struct Block {
    std::uint32_t rows = 0;
    std::uint32_t columns = 0;
};

// A load costs as much as a dozen multiplications on a CPU's Vulkan, so blocks are as large as compiling them allows
// (8 x 8 takes half a second there, 16 x 16 four); decoding has one row or a beam of four.
Block block_for(std::uint32_t m) {
    if (m == 1) {
        return {1, 4};
    }
    return m <= 4 ? Block{4, 4} : Block{8, 8};
}

bool in_fours(std::uint32_t value) {
    return value % 4 == 0;
}

// Whether matmul_vector.comp can load an operand four at a time. `step` is the stride that is not 1, `along_k` which
// way the operand is contiguous; `outputs` is m or n and `block` how many of them an invocation has.
bool loads_in_fours(const Tensor& operand, const uint (&batch)[2], std::uint32_t step, bool along_k,
                    std::uint32_t outputs, std::uint32_t block) {
    return operand.offset % 4 == 0 && in_fours(batch[0]) && in_fours(batch[1]) && in_fours(step) &&
           (along_k || (in_fours(outputs) && in_fours(block)));
}

struct Sizes {
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
};

Sizes sizes_of(const Matmul& op) {
    return {op.out.dim(-2), op.out.dim(-1), op.a.dim(op.transpose_a ? -2 : -1)};
}

// Dimension `dim` of all that have it, cut to [first, first + count).
Matmul cut_batch(const Matmul& op, int dim, std::int64_t first, std::int64_t count) {
    Matmul part = op;
    part.a = op.a.narrow(dim, first, count);
    part.b = op.b.narrow(dim, first, count);
    part.out = op.out.narrow(dim, first, count);
    return part;
}

Matmul cut_m(const Matmul& op, std::int64_t first, std::int64_t count) {
    Matmul part = op;
    part.a = op.a.narrow(op.transpose_a ? -1 : -2, first, count);
    part.out = op.out.narrow(-2, first, count);
    return part;
}

Matmul cut_n(const Matmul& op, std::int64_t first, std::int64_t count) {
    Matmul part = op;
    part.b = op.b.narrow(op.transpose_b ? -2 : -1, first, count);
    part.out = op.out.narrow(-1, first, count);
    return part;
}

Matmul cut_k(const Matmul& op, std::int64_t first, std::int64_t count) {
    Matmul part = op;
    part.a = op.a.narrow(op.transpose_a ? -2 : -1, first, count);
    part.b = op.b.narrow(op.transpose_b ? -1 : -2, first, count);
    part.beta = first == 0 ? op.beta : 1.0F;
    return part;
}

enum class Axis { M, N, K };

// The two halves of a product. `fits` is of a, b and out, of which one does not.
std::pair<Matmul, Matmul> halves(const Matmul& op, const std::array<bool, 3>& fits) {
    for (int dim = 0; dim + 2 < op.out.rank(); ++dim) {
        if (const std::int64_t size = op.out.dim(dim); size > 1) {
            return {cut_batch(op, dim, 0, size / 2), cut_batch(op, dim, size / 2, size - size / 2)};
        }
    }
    const Sizes sizes = sizes_of(op);
    const auto size_of_axis = [&](Axis axis) {
        return axis == Axis::M ? sizes.m : axis == Axis::N ? sizes.n : sizes.k;
    };
    // Rows lie far apart and are cut first; a row that is alone is cut along itself.
    const auto either = [&](Axis rows, Axis columns) { return size_of_axis(rows) > 1 ? rows : columns; };
    const Axis axis = !fits[0]   ? (op.transpose_a ? either(Axis::K, Axis::M) : either(Axis::M, Axis::K))
                      : !fits[1] ? (op.transpose_b ? either(Axis::N, Axis::K) : either(Axis::K, Axis::N))
                                 : either(Axis::M, Axis::N);
    const std::int64_t size = size_of_axis(axis);
    HEADSCOPE_CHECK(size > 1, "one element is larger than a binding");
    const auto cut = axis == Axis::M ? cut_m : axis == Axis::N ? cut_n : cut_k;
    return {cut(op, 0, size / 2), cut(op, size / 2, size - size / 2)};
}

MatmulParams params_of(const Matmul& op) {
    const Sizes sizes = sizes_of(op);
    MatmulParams params{};
    params.m = u32(sizes.m);
    params.n = u32(sizes.n);
    params.k = u32(sizes.k);
    const int batch_dims = op.out.rank() - 2;
    params.batch_inner = batch_dims > 0 ? u32(op.out.dim(-3)) : 1;
    const auto batch_strides = [&](const Tensor& tensor, uint(&to)[2]) {
        to[0] = batch_dims > 1 ? u32(tensor.stride(-4)) : 0;
        to[1] = batch_dims > 0 ? u32(tensor.stride(-3)) : 0;
    };
    batch_strides(op.a, params.a_batch);
    batch_strides(op.b, params.b_batch);
    batch_strides(op.out, params.out_batch);
    params.a_row = op.transpose_a ? 1 : u32(op.a.stride(-2));
    params.a_column = op.transpose_a ? u32(op.a.stride(-2)) : 1;
    params.b_row = op.transpose_b ? 1 : u32(op.b.stride(-2));
    params.b_column = op.transpose_b ? u32(op.b.stride(-2)) : 1;
    params.out_row = u32(op.out.stride(-2));
    params.alpha = op.alpha;
    params.beta = op.beta;
    return params;
}

}  // namespace

void VulkanBackend::run(const Matmul& op) {
    if (op.b.dtype == DType::F16 && op.a.dtype == DType::F32) {
        Matmul wide = op;
        wide.b = widened(op.b);
        run(wide);
        return;
    }
    require_dtype(Matmul::kName, {&op.a, &op.b, &op.out}, DType::F32);
    if (op.out.elements() == 0) {
        return;
    }
    const std::array fits{fits_binding(op.a), fits_binding(op.b), fits_binding(op.out)};
    if (fits[0] && fits[1] && fits[2]) {
        multiply(op);
        return;
    }
    const auto [first, second] = halves(op, fits);
    run(first);
    run(second);
}

void VulkanBackend::multiply(const Matmul& op) {
    const MatmulParams params = params_of(op);
    const std::int64_t batch_outer = op.out.rank() == 4 ? op.out.dim(0) : 1;
    if (const std::optional<Launch> launch = matrices_->launch(op, params)) {
        stream_.dispatch(*launch, params, std::array{&op.a, &op.b, &op.out});
        return;
    }
    const Block block = block_for(params.m);
    Launch launch;
    launch.kernel = Kernel::Matmul;
    const std::uint32_t lanes =
        device_.capabilities().software ? std::clamp(device_.capabilities().subgroup_size, 4U, 128U) : 64;
    launch.specialisation.local_size = lanes;
    launch.specialisation.extra = {block.rows, block.columns, rounding_of(op.compute)};
    const bool a_along_k = !op.transpose_a;
    const bool b_along_k = op.transpose_b;
    if (options_.vector_loads && in_fours(params.k) &&
        loads_in_fours(op.a, params.a_batch, u32(op.a.stride(-2)), a_along_k, params.m, block.rows) &&
        loads_in_fours(op.b, params.b_batch, u32(op.b.stride(-2)), b_along_k, params.n, block.columns)) {
        launch.kernel = Kernel::MatmulVector;
        launch.specialisation.extra[3] = a_along_k ? 1 : 0;
        launch.specialisation.extra[4] = b_along_k ? 1 : 0;
    }
    const std::uint64_t blocks = static_cast<std::uint64_t>((params.m + block.rows - 1) / block.rows) *
                                 ((params.n + block.columns - 1) / block.columns);
    launch.groups = (blocks + lanes - 1) / lanes * params.batch_inner * static_cast<std::uint64_t>(batch_outer);
    launch.work_per_group = std::uint64_t{2} * block.rows * block.columns * lanes * std::max(params.k, 1U);
    stream_.dispatch(launch, params, std::array{&op.a, &op.b, &op.out});
}

}  // namespace headscope::vulkan
