// Products.
//
// Rule: out is overwritten; with beta it is read, scaled and added to. It shares no memory with a, b or x. A sum over k
// is in F32, in an order that a device fixes by shapes and dtypes: equal operands give equal bits.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "backend/ops/bias.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/matmul.h"
#include "backends/vulkan/products/product_plan.h"
#include "backends/vulkan/vulkan_backend_impl.h"
#include "support/check.h"

namespace headscope::vulkan {

namespace {

// Numbers of round.glsl.
std::uint32_t rounding_of(Compute compute) {
    switch (compute) {
        case Compute::F32: return 0;
        case Compute::BF16: return 1;
        case Compute::F16: return 2;
        case Compute::TF32: break;
    }
    throw Error(fmt::format("the vulkan backend multiplies in F32, BF16 or F16, asked for {}", name_of(compute)));
}

// Whether the rows along an operand's contiguous dimension are aligned to so many elements. `step` is the other stride.
bool is_aligned(const Tensor& operand, const uint (&batch)[2], std::uint32_t step, std::uint32_t elements) {
    return operand.offset % elements == 0 && batch[0] % elements == 0 && batch[1] % elements == 0 &&
           step % elements == 0;
}

bool is_vec4_aligned(const Tensor& operand, const uint (&batch)[2], std::uint32_t step) {
    return is_aligned(operand, batch, step, 4);
}

bool is_pack_aligned(const Tensor& operand, const uint (&batch)[2], std::uint32_t step) {
    return is_aligned(operand, batch, step, static_cast<std::uint32_t>(16 / size_of(operand.dtype)));
}

struct Sizes {
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
};

Sizes sizes_of(const Matmul& op) {
    return {op.out.dim(-2), op.out.dim(-1), op.a.dim(op.transpose_a ? -2 : -1)};
}

// Cuts dimension `dim` of all operands to [first, first + count).
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

// The two halves of a product. `fits`: whether a, b and out fit a binding; one does not.
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
    // Rows are far apart and are cut first; a single row is cut along its columns.
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
    params.wide_out = op.out.dtype == DType::F32 ? 1 : 0;
    return params;
}

// The last two dimensions; the others have size 1.
Tensor matrix_of(const Tensor& tensor) {
    Tensor matrix = tensor;
    matrix.shape = {tensor.dim(-2), tensor.dim(-1)};
    matrix.strides = {tensor.stride(-2), tensor.stride(-1)};
    return matrix;
}

// A matrix [rows, k] (or [k, rows] if k goes down its rows) viewed as [parts, rows, k / parts] (or [parts, k / parts,
// rows]).
Tensor in_parts_of_k(const Tensor& matrix, bool down_rows, std::int64_t parts) {
    return down_rows ? matrix.split(0, matrix.dim(0) / parts) : matrix.split(1, matrix.dim(1) / parts).swap(0, 1);
}

}  // namespace

void VulkanBackend::run(const Matmul& op) {
    if (op.b.dtype == DType::F16 && op.a.dtype == DType::F32) {
        Matmul wide = op;
        wide.b = widened(op.b);
        run(wide);
        return;
    }
    // An F32 output is allowed with operands of any type.
    require_types(op);
    if (op.out.elements() == 0) {
        return;
    }
    const std::array fits{fits_binding(op.a), fits_binding(op.b), fits_binding(op.out)};
    if (fits[0] && fits[1] && fits[2]) {
        multiply(op, {});
        return;
    }
    const auto [first, second] = halves(op, fits);
    run(first);
    run(second);
}

// The other activations would be compiled once for each output of a block, which takes seconds on software devices.
void VulkanBackend::run(const Linear& op) {
    if (op.weight.dtype == DType::F16 && op.x.dtype == DType::F32) {
        Linear wide = op;
        wide.weight = widened(op.weight);
        run(wide);
        return;
    }
    require_types(op);
    if (!works_in_place(op.activation) || !fit_bindings({&op.x, &op.weight, &op.y})) {
        Backend::run(op);
        return;
    }
    if (op.y.elements() > 0) {
        multiply(Matmul{.a = op.x, .b = op.weight, .out = op.y, .transpose_b = true, .compute = op.compute},
                 {.bias = op.bias, .activation = op.activation});
    }
}

// Bits of product_out.glsl.
std::uint32_t VulkanBackend::Epilogue::bits() const {
    return (bias.defined() ? 1U : 0U) + (activation == Activation::Relu ? 2U : 0U);
}

ProductShape VulkanBackend::shape_of(const Matmul& op, const MatmulParams& params, const Epilogue& epilogue) const {
    ProductShape shape;
    shape.m = params.m;
    shape.n = params.n;
    shape.k = params.k;
    shape.batch =
        std::uint64_t{params.batch_inner} * static_cast<std::uint64_t>(op.out.rank() == 4 ? op.out.dim(0) : 1);
    shape.a_along_k = !op.transpose_a;
    shape.b_along_k = op.transpose_b;
    shape.a_vec4_aligned = is_vec4_aligned(op.a, params.a_batch, u32(op.a.stride(-2)));
    shape.b_vec4_aligned = is_vec4_aligned(op.b, params.b_batch, u32(op.b.stride(-2)));
    shape.a_pack_aligned = is_pack_aligned(op.a, params.a_batch, u32(op.a.stride(-2)));
    shape.b_pack_aligned = is_pack_aligned(op.b, params.b_batch, u32(op.b.stride(-2)));
    shape.out_vec4_aligned = is_vec4_aligned(op.out, params.out_batch, params.out_row);
    shape.rounding = rounding_of(op.compute);
    shape.epilogue = epilogue.bits();
    shape.texels = device_.capabilities().texel_loads && op.a.dtype == DType::F32;
    shape.whole = !op.out.contiguous() || op.out.dtype != DType::F32;
    shape.storage = op.a.dtype;
    // F32 operands are rounded when they are staged; those of 16 bits are staged unchanged.
    const auto multiplied_in = [&](DType dtype, Compute compute) {
        return op.a.dtype == dtype || (op.a.dtype == DType::F32 && op.compute == compute);
    };
    shape.bf16 = multiplied_in(DType::BF16, Compute::BF16);
    shape.matrices = (shape.bf16 || multiplied_in(DType::F16, Compute::F16)) && takes_matrices(product_device_, shape);
    return shape;
}

void VulkanBackend::multiply(const Matmul& op, const Epilogue& epilogue) {
    const ProductShape shape = shape_of(op, params_of(op), epilogue);
    const ProductChoice choice = tuning_.choose(shape);
    if (choice.parts > 1) {
        multiply_in_parts(op, choice, epilogue);
    } else {
        multiply_by(op, choice, epilogue);
    }
}

// Ignores the choice's number of parts.
void VulkanBackend::multiply_by(const Matmul& op, const ProductChoice& choice, const Epilogue& epilogue) {
    const MatmulParams params = params_of(op);
    const ProductPlan plan = plan_product(product_device_, shape_of(op, params, epilogue), choice);
    Launch launch;
    launch.kernel = plan.kernel;
    launch.specialisation = plan.specialisation;
    launch.groups = plan.groups;
    launch.work_per_group = plan.work_per_group;
    stream_.dispatch(launch, params, {.a = op.a, .b = op.b, .out = op.out, .bias = epilogue.bias});
}

// Computes the sum over k in parts and then adds these in order.
void VulkanBackend::multiply_in_parts(const Matmul& op, const ProductChoice& choice, const Epilogue& epilogue) {
    const Sizes sizes = sizes_of(op);
    const std::int64_t parts = choice.parts;
    Matmul part = op;
    part.a = in_parts_of_k(matrix_of(op.a), op.transpose_a, parts);
    part.b = in_parts_of_k(matrix_of(op.b), !op.transpose_b, parts);
    part.out = empty({parts, sizes.m, sizes.n}, DType::F32);
    part.beta = 0.0F;
    if (!fits_binding(part.out)) {
        multiply_by(op, choice, epilogue);
        return;
    }
    multiply_by(part, choice, {});
    const Tensor sums = part.out.reshape({parts, sizes.m * sizes.n});
    const Tensor out = op.out.reshape({sizes.m * sizes.n});
    if (op.beta == 0.0F || op.beta == 1.0F) {
        run(SumRows{.x = sums, .out = out, .write = op.beta == 0.0F ? Write::Overwrite : Write::Accumulate});
        if (epilogue.bits() != 0) {
            const Tensor y = op.out.reshape({1, sizes.m, sizes.n});
            run(BiasActivation{.x = y, .bias = epilogue.bias, .y = y, .activation = epilogue.activation});
        }
        return;
    }
    const Tensor whole = empty({sizes.m * sizes.n}, DType::F32);
    run(SumRows{.x = sums, .out = whole});
    run(AddScaled{.a = whole, .b = out, .out = out, .alpha = 1.0F, .beta = op.beta});
}

}  // namespace headscope::vulkan
