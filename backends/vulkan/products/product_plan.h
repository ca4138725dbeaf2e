// Which kernel multiplies, and in which blocks: pure functions, testable without a device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/vulkan/device/matrix_tiles.h"
#include "backends/vulkan/device/options.h"
#include "backends/vulkan/stream/pipelines.h"

namespace headscope::vulkan {

struct ProductDevice {
    bool software = false;
    bool vector_loads = true;
    bool subgroup_shuffles = false;  // with workgroups of one subgroup
    std::uint32_t subgroup_size = 1;
    std::uint32_t shared_bytes = 16384;  // of a workgroup: guaranteed by Vulkan
    ProductTiles tiles = ProductTiles::Device;
    std::uint32_t tile = 0;                     // Options::tile
    std::optional<MatrixDevice> matrices = {};  // of F16
    std::optional<MatrixDevice> bf16_matrices = {};
};

// out [m, n] = a b, `batch` times. An operand is "in fours" if each of its rows or columns, whichever are contiguous,
// is aligned to four elements.
struct ProductShape {
    std::uint32_t m = 0;
    std::uint32_t n = 0;
    std::uint32_t k = 0;
    std::uint64_t batch = 1;
    bool a_along_k = true;  // contiguous along k, else along m
    bool b_along_k = false;
    bool a_vec4_aligned = false;
    bool b_vec4_aligned = false;
    bool out_vec4_aligned = false;
    bool a_pack_aligned = false;  // to 16 bytes, likewise
    bool b_pack_aligned = false;
    std::uint32_t rounding = 0;  // as numbered in round.glsl
    std::uint32_t epilogue = 0;  // as numbered in product_out.glsl
    bool texels = false;         // the operands can be read through texel buffers
    bool whole = false;          // its sum cannot be split: parts are only added in contiguous F32
    DType storage = DType::F32;  // of the operands
    bool matrices = false;       // the device's matrices compute it: takes_matrices()
    bool bf16 = false;           // its operands are multiplied in BF16
};

enum class ProductKernel : std::uint8_t {
    Blocks,    // matmul.comp or matmul_vector.comp
    Subgroup,  // matmul_subgroup.comp
    Tiles,     // matmul_tiled.comp
    Rows,      // matmul_rows.comp
    Matrices,  // matmul_cooperative.comp
};

// One way to compute a product.
struct ProductChoice {
    ProductKernel kernel = ProductKernel::Blocks;
    // Subgroup: rows as a multiple of its lanes, 1, 2 or 4; Tiles: outputs of an invocation per side, 4 or kLargeTile;
    // Matrices: MatrixTile::side
    std::uint32_t block = 0;
    std::uint32_t parts = 1;      // of the sum over k, of equal length, a multiple of 4
    std::uint32_t subgroups = 0;  // Matrices: of a tile
    bool operator==(const ProductChoice&) const = default;
};

// Whether an operand can be loaded entirely by vec4.
bool loads_a_by_vec4(const ProductDevice& device, const ProductShape& shape);
bool loads_b_by_vec4(const ProductDevice& device, const ProductShape& shape);

// Whether matrices are worthwhile: below this size a tile would be mostly edge.
bool takes_matrices(const ProductDevice& device, const ProductShape& shape);

// The whole product in one tile's kernel.
inline ProductChoice matrix_choice(const MatrixTile& tile) {
    return {.kernel = ProductKernel::Matrices, .block = tile.side, .subgroups = tile.subgroups};
}

// "tiles 8, 4 parts"
std::string to_string(const ProductChoice& choice);

// The choice that is likely to be fast.
ProductChoice choose_product(const ProductDevice& device, const ProductShape& shape);

// All choices for this shape, for ProductTuning to try.
std::vector<ProductChoice> product_choices(const ProductDevice& device, const ProductShape& shape);

struct ProductPlan {
    Kernel kernel{};
    Specialisation specialisation;
    std::uint64_t groups = 0;
    std::uint64_t work_per_group = 0;
};

// How to launch one product, or one part of it.
ProductPlan plan_product(const ProductDevice& device, const ProductShape& shape, const ProductChoice& choice);

}  // namespace headscope::vulkan
