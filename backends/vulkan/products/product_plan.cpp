#include "backends/vulkan/products/product_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "shaders/include/params.h"

namespace headscope::vulkan {

namespace {

constexpr std::uint32_t kSide = 16;  // invocations of a workgroup of matmul_tiled.comp along each dimension
constexpr std::uint32_t kMostParts = 16;
constexpr std::uint32_t kFewRows = 4;  // decoding has one row or a beam of four

std::uint32_t parts_of(std::uint32_t whole, std::uint32_t part) {
    return (whole + part - 1) / part;
}

bool in_fours(std::uint32_t value) {
    return value % 4 == 0;
}

// Whether an operand can be loaded entirely by vec4; `outputs` is m or n.
bool loads_by_vec4(const ProductDevice& device, const ProductShape& shape, bool fours, bool along_k,
                   std::uint32_t outputs) {
    return device.vector_loads && fours && in_fours(along_k ? shape.k : outputs);
}

bool stores_by_vec4(const ProductDevice& device, const ProductShape& shape) {
    return device.vector_loads && shape.out_vec4_aligned && in_fours(shape.n);
}

bool takes_subgroups(const ProductDevice& device, const ProductShape& shape) {
    const bool lanes_do = device.subgroup_size >= 4 && device.subgroup_size <= 16;
    return device.software && device.tiles == ProductTiles::Device && device.subgroup_shuffles && lanes_do &&
           shape.m > 1;
}

bool has_many_cores(const ProductDevice& device) {
    return !device.software || device.tiles == ProductTiles::Shared;
}

std::uint32_t row_lanes(const ProductDevice& device) {
    return std::clamp(device.subgroup_size, 4U, 128U);
}

bool takes_tiles(const ProductDevice& device, const ProductShape& shape) {
    return shape.m > kFewRows && has_many_cores(device) && device.tiles != ProductTiles::None;
}

// Few rows times a weight, both along k, which the invocations share.
bool takes_rows(const ProductDevice& device, const ProductShape& shape) {
    return shape.m <= kFewRows && shape.a_along_k && shape.b_along_k && loads_a_by_vec4(device, shape) &&
           loads_b_by_vec4(device, shape) && shape.k >= 4 * row_lanes(device);
}

bool takes_parts(const ProductShape& shape, std::uint32_t parts) {
    constexpr std::uint32_t kLeastPart = 128;  // of k: shorter parts cost more in sums than they gain
    constexpr std::uint64_t kMostSums = std::uint64_t{1} << 24U;  // elements, 64 MiB
    return parts == 1 || (!shape.whole && shape.batch == 1 && shape.k % (4 * parts) == 0 &&
                          shape.k / parts >= kLeastPart && std::uint64_t{parts} * shape.m * shape.n <= kMostSums);
}

// Of matmul.comp and matmul_rows.comp.
Constants plain_constants(const ProductShape& shape, std::uint32_t rows, std::uint32_t columns) {
    return MatmulConstants{.rows = rows, .columns = columns, .rounding = shape.rounding, .epilogue = shape.epilogue}
        .values();
}

// Every invocation keeps a block in registers. On software devices a load costs as much as a dozen multiplications, so
// blocks are as large as compile time allows (8 x 8 takes half a second, 16 x 16 four).
ProductPlan plan_blocks(const ProductDevice& device, const ProductShape& shape) {
    const std::uint32_t rows = shape.m == 1 ? 1 : shape.m <= kFewRows ? 4 : 8;
    const std::uint32_t columns = shape.m <= kFewRows ? 4 : 8;
    const std::uint32_t lanes = device.software ? row_lanes(device) : 64;
    ProductPlan plan;
    plan.specialisation.local_size = lanes;
    // Loads along an operand's outputs are vec4, so a block needs as many.
    const bool vectors = loads_a_by_vec4(device, shape) && loads_b_by_vec4(device, shape) && in_fours(shape.k);
    if (vectors && (shape.a_along_k || in_fours(rows))) {
        plan.kernel = Kernel::MatmulVector;
        plan.specialisation.constants = MatmulVectorConstants{.rows = rows,
                                                              .columns = columns,
                                                              .rounding = shape.rounding,
                                                              .epilogue = shape.epilogue,
                                                              .a_along_k = shape.a_along_k,
                                                              .b_along_k = shape.b_along_k}
                                            .values();
    } else {
        plan.kernel = Kernel::Matmul;
        plan.specialisation.constants = plain_constants(shape, rows, columns);
    }
    const auto blocks = static_cast<std::uint64_t>(parts_of(shape.m, rows)) * parts_of(shape.n, columns);
    plan.groups = (blocks + lanes - 1) / lanes * shape.batch;
    plan.work_per_group = std::uint64_t{2} * rows * columns * lanes * std::max(shape.k, 1U);
    return plan;
}

ProductPlan plan_rows(const ProductDevice& device, const ProductShape& shape) {
    const std::uint32_t rows = shape.m == 1 ? 1 : shape.m == 2 ? 2 : kFewRows;
    constexpr std::uint32_t columns = 4;
    ProductPlan plan;
    plan.kernel = Kernel::MatmulRows;
    plan.specialisation.local_size = row_lanes(device);
    plan.specialisation.constants = plain_constants(shape, rows, columns);
    plan.groups = parts_of(shape.n, columns) * shape.batch;
    plan.work_per_group = std::uint64_t{2} * rows * columns * std::max(shape.k, 1U);
    return plan;
}

ProductPlan with_tile(const ProductShape& shape, Kernel kernel, std::uint32_t rows, std::uint32_t columns) {
    ProductPlan plan;
    plan.kernel = kernel;
    plan.groups = static_cast<std::uint64_t>(parts_of(shape.m, rows)) * parts_of(shape.n, columns) * shape.batch;
    plan.work_per_group = std::uint64_t{2} * rows * columns * std::max(shape.k, 1U);
    return plan;
}

// With scalar loads the largest number of rows takes seconds to compile.
std::uint32_t most_subgroup_rows(const ProductDevice& device, const ProductShape& shape) {
    return loads_a_by_vec4(device, shape) && loads_b_by_vec4(device, shape) ? 4 : 2;
}

// On llvmpipe subgroups with 32 rows are 3 times as fast as blocks, with 16 rows 2.4 and with 8 rows 1.7 times (512 x
// 512 x 512), so few rows use a tile that fits tightly.
std::uint32_t choose_subgroup_rows(const ProductDevice& device, const ProductShape& shape) {
    constexpr std::array<double, 3> kCost{1.8, 1.25, 1.0};  // of a row, relative, for 1, 2 and 4 times the lanes
    std::uint32_t best = 0;
    double least = 0.0;
    for (std::size_t size = 0; (1U << size) <= most_subgroup_rows(device, shape); ++size) {
        const std::uint32_t rows = device.subgroup_size << size;
        const double cost = kCost[size] * parts_of(shape.m, rows) * rows;
        if (best == 0 || cost < least) {
            best = 1U << size;
            least = cost;
        }
    }
    return best;
}

ProductPlan plan_subgroups(const ProductDevice& device, const ProductShape& shape, std::uint32_t block) {
    constexpr std::uint32_t kColumns = 4;
    const std::uint32_t rows = block * device.subgroup_size;
    ProductPlan plan = with_tile(shape, Kernel::MatmulSubgroup, rows, kColumns * device.subgroup_size);
    plan.specialisation.local_size = device.subgroup_size;
    const auto bits = [](bool first, bool second) { return (first ? 1U : 0U) + (second ? 2U : 0U); };
    plan.specialisation.constants =
        MatmulSubgroupConstants{.rows = rows,
                                .columns = kColumns,
                                .rounding = shape.rounding,
                                .epilogue = shape.epilogue,
                                .along = bits(shape.a_along_k, shape.b_along_k),
                                .fours = bits(loads_a_by_vec4(device, shape), loads_b_by_vec4(device, shape)) +
                                         4 * bits(stores_by_vec4(device, shape), in_fours(shape.k))}
            .values();
    return plan;
}

std::uint64_t tiles_of(const ProductShape& shape, std::uint32_t block) {
    return std::uint64_t{parts_of(shape.m, kSide * block)} * parts_of(shape.n, kSide * block) * shape.batch;
}

bool has_room_for_tile(const ProductDevice& device, std::uint32_t block) {
    constexpr std::uint32_t kDepth = 16;  // as in matmul_tiled.comp, which keeps two tiles
    constexpr std::uint32_t kPadding = 4;
    return 2 * kDepth * (kSide * block + kPadding) * sizeof(float) <= device.shared_bytes;
}

// Tiles of 128 x 128 load half as much as those of 64 x 64, if there are enough for every core.
std::uint32_t choose_tile(const ProductDevice& device, const ProductShape& shape) {
    constexpr std::uint64_t kEnough = 96;
    constexpr std::uint32_t kSmall = 4;
    const bool many = shape.m > kSide * kSmall && shape.n > kSide * kSmall && tiles_of(shape, kLargeTile) >= kEnough;
    const bool large = device.tile == 0 ? many : device.tile == kLargeTile;
    return large && has_room_for_tile(device, kLargeTile) ? kLargeTile : kSmall;
}

ProductPlan plan_tiles(const ProductDevice& device, const ProductShape& shape, std::uint32_t block) {
    const auto loads = [](bool along_k, bool fours) { return (along_k ? 1U : 0U) + (fours ? 2U : 0U); };
    ProductPlan plan = with_tile(shape, Kernel::MatmulTiled, kSide * block, kSide * block);
    plan.specialisation.local_size = kSide * kSide;
    const std::uint32_t out = stores_by_vec4(device, shape) ? 4 : 0;
    plan.specialisation.constants =
        MatmulTiledConstants{.rows = block,
                             .columns = block,
                             .rounding = shape.rounding,
                             .epilogue = shape.epilogue,
                             .a_loads = loads(shape.a_along_k, loads_a_by_vec4(device, shape)) + out,
                             .b_loads = loads(shape.b_along_k, loads_b_by_vec4(device, shape))}
            .values();
    return plan;
}

const std::optional<MatrixDevice>& matrices_for(const ProductDevice& device, const ProductShape& shape) {
    return shape.bf16 ? device.bf16_matrices : device.matrices;
}

// Whether an operand can be loaded entirely by 16 bytes; `outputs` is m or n.
bool loads_by_packs(const ProductDevice& device, const ProductShape& shape, bool aligned, bool along_k,
                    std::uint32_t outputs) {
    const auto pack = static_cast<std::uint32_t>(16 / size_of(shape.storage));
    return device.vector_loads && aligned && (along_k ? shape.k : outputs) % pack == 0;
}

Kernel kernel_of(const MatrixDevice& matrices) {
    return matrices.emulated ? Kernel::MatmulCooperativeEmulated
           : matrices.bf16   ? Kernel::MatmulCooperativeBf16
                             : Kernel::MatmulCooperative;
}

std::vector<ProductChoice> by_matrices(const std::vector<MatrixTile>& tiles) {
    std::vector<ProductChoice> choices;
    for (const MatrixTile& tile : tiles) {
        choices.push_back(matrix_choice(tile));
    }
    return choices;
}

ProductPlan plan_matrices(const ProductDevice& device, const ProductShape& shape, const ProductChoice& choice) {
    const MatrixDevice& matrices = matrices_for(device, shape).value();
    const MatrixStaging staging = staging_of(matrices, {choice.block, choice.subgroups}).value();
    ProductPlan plan = with_tile(shape, kernel_of(matrices), choice.block, choice.block);
    plan.specialisation.local_size = choice.subgroups * matrices.subgroup_size;
    // The bits of cooperative_tiles.glsl.
    const std::array manner{shape.a_along_k,
                            shape.b_along_k,
                            loads_by_packs(device, shape, shape.a_pack_aligned, shape.a_along_k, shape.m),
                            loads_by_packs(device, shape, shape.b_pack_aligned, shape.b_along_k, shape.n),
                            stores_by_vec4(device, shape),
                            matrices.maker != MatrixMaker::Software,  // prefetching: a CPU has nothing to overlap
                            matrices.emulated && matrices.bf16,
                            choice.block == kLargeMatrixSide,
                            choice.subgroups == 8,
                            staging.depth == 64,
                            staging.stages == 2};
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < manner.size(); ++i) {
        bits |= manner[i] ? 1U << i : 0U;
    }
    plan.specialisation.constants = MatmulCooperativeConstants{.m = matrices.sizes.m,
                                                               .n = matrices.sizes.n,
                                                               .k = matrices.sizes.k,
                                                               .subgroup_size = matrices.subgroup_size,
                                                               .manner = bits,
                                                               .epilogue = shape.epilogue}
                                        .values();
    return plan;
}

ProductPlan plan_kernel(const ProductDevice& device, const ProductShape& shape, const ProductChoice& choice) {
    switch (choice.kernel) {
        case ProductKernel::Tiles: return plan_tiles(device, shape, choice.block);
        case ProductKernel::Subgroup: return plan_subgroups(device, shape, choice.block);
        case ProductKernel::Rows: return plan_rows(device, shape);
        case ProductKernel::Matrices: return plan_matrices(device, shape, choice);
        case ProductKernel::Blocks: break;
    }
    return plan_blocks(device, shape);
}

}  // namespace

bool loads_a_by_vec4(const ProductDevice& device, const ProductShape& shape) {
    return loads_by_vec4(device, shape, shape.a_vec4_aligned, shape.a_along_k, shape.m);
}

bool loads_b_by_vec4(const ProductDevice& device, const ProductShape& shape) {
    return loads_by_vec4(device, shape, shape.b_vec4_aligned, shape.b_along_k, shape.n);
}

bool takes_matrices(const ProductDevice& device, const ProductShape& shape) {
    constexpr std::uint32_t kFewest = 5;
    // llvmpipe leaves a kernel once its loops have run 65,535 times in all: the emulation's in its largest tiles after
    // about 3,000 terms.
    constexpr std::uint32_t kMostEmulated = 2048;
    const std::optional<MatrixDevice>& matrices = matrices_for(device, shape);
    return matrices && shape.m >= kFewest && shape.n >= kFewest && !(matrices->emulated && shape.k > kMostEmulated);
}

std::string to_string(const ProductChoice& choice) {
    constexpr std::array kNames{"blocks", "subgroup", "tiles", "rows", "matrices"};
    std::string text = kNames.at(static_cast<std::size_t>(choice.kernel));
    text += choice.block == 0 ? "" : fmt::format(" {}", choice.block);
    text += choice.subgroups == 0 ? "" : fmt::format(" by {}", choice.subgroups);
    return text + (choice.parts == 1 ? "" : fmt::format(", {} parts", choice.parts));
}

ProductChoice choose_product(const ProductDevice& device, const ProductShape& shape) {
    // Workgroups of about four subgroups that fill the largest GPU; fewer if matrix tiles have more subgroups.
    constexpr std::uint64_t kEnough = 256;
    constexpr std::uint64_t kEnoughSubgroups = 4 * kEnough;
    ProductChoice choice;
    if (has_many_cores(device) && takes_rows(device, shape)) {
        return {ProductKernel::Rows};  // whose invocations already share the sum
    }
    if (shape.matrices) {
        choice = matrix_choice(choose_matrix_tile(*matrices_for(device, shape), shape.m, shape.n, shape.batch));
    } else if (takes_tiles(device, shape)) {
        choice = {ProductKernel::Tiles, choose_tile(device, shape)};
    } else if (takes_subgroups(device, shape) && !(shape.texels && shape.m <= kFewRows)) {
        choice = {ProductKernel::Subgroup, choose_subgroup_rows(device, shape)};
    }
    const std::uint64_t groups = plan_product(device, shape, choice).groups;
    const std::uint64_t enough = shape.matrices ? kEnoughSubgroups / choice.subgroups : kEnough;
    while (has_many_cores(device) && choice.parts < kMostParts && groups * choice.parts < enough &&
           takes_parts(shape, 2 * choice.parts)) {
        choice.parts *= 2;
    }
    return choice;
}

std::vector<ProductChoice> product_choices(const ProductDevice& device, const ProductShape& shape) {
    std::vector<ProductChoice> kernels;
    if (shape.matrices) {
        kernels = by_matrices(matrix_tiles(*matrices_for(device, shape)));
    }
    if (takes_tiles(device, shape)) {
        kernels.push_back({ProductKernel::Tiles, 4});
        if (has_room_for_tile(device, kLargeTile)) {
            kernels.push_back({ProductKernel::Tiles, kLargeTile});
        }
    }
    for (std::uint32_t rows = 1; takes_subgroups(device, shape) && rows <= most_subgroup_rows(device, shape);
         rows *= 2) {
        kernels.push_back({ProductKernel::Subgroup, rows});
    }
    if (takes_rows(device, shape)) {
        kernels.push_back({ProductKernel::Rows});
    }
    kernels.push_back({ProductKernel::Blocks});
    std::vector<ProductChoice> choices;
    for (ProductChoice choice : kernels) {
        for (choice.parts = 1; choice.parts <= kMostParts && takes_parts(shape, choice.parts); choice.parts *= 2) {
            choices.push_back(choice);
        }
    }
    return choices;
}

ProductPlan plan_product(const ProductDevice& device, const ProductShape& shape, const ProductChoice& choice) {
    ProductPlan plan = plan_kernel(device, shape, choice);
    plan.specialisation.texels = shape.texels && choice.kernel != ProductKernel::Matrices;
    return plan;
}

}  // namespace headscope::vulkan
