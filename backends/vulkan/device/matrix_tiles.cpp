#include "backends/vulkan/device/matrix_tiles.h"

#include <algorithm>
#include <array>

#include "backends/vulkan/device/device.h"

namespace headscope::vulkan {

namespace {

// As in shaders/include/cooperative_tiles.glsl.
constexpr std::uint32_t kPadding = 8;  // halves after each row
constexpr std::uint32_t kHalf = 2;     // bytes
constexpr std::uint32_t kPiece = 8;    // fewest elements of an operand, staged by an invocation
constexpr std::uint32_t kRowsOfSubgroups = 2;

// Of the emulation: no two sizes are equal, so that mixing them up shows; each invocation has 16 entries of a matrix.
constexpr MatrixSizes kEmulatedSizes{16, 8, 16};
constexpr std::uint32_t kEmulatedSubgroup = 8;

bool divides(std::uint32_t part, std::uint32_t whole) {
    return part != 0 && whole % part == 0;
}

std::uint32_t sums_of_invocation(const MatrixDevice& device, const MatrixTile& tile) {
    return tile.side * tile.side / (tile.subgroups * device.subgroup_size);
}

std::uint64_t count(const MatrixTile& tile, std::uint32_t m, std::uint32_t n, std::uint64_t batch) {
    const auto over = [&](std::uint32_t size) { return (std::uint64_t{size} + tile.side - 1) / tile.side; };
    return over(m) * over(n) * batch;
}

// Which tiles multiply, from counts: none has been timed on a GPU. A workgroup reads 2 side numbers for each term, so a
// tile of 128 x 128 reads half as much for each output as one of 64 x 64. What limits it are the sums in F32 that each
// invocation keeps, side^2 / (subgroups * their size), beside the parts of both operands. Registers and spills are
// those of Mesa 25.0's compilers (docs/conformance.md, "For driver authors").
constexpr std::uint32_t kMostSums = 64;  // of 128 to 256 registers
// Large tiles leave cores idle if there are fewer than about as many as cores: 82 to 132 multiprocessors of NVIDIA's
// large GPUs, 96 compute units of AMD's.
constexpr std::uint64_t kCores = 96;
constexpr MatrixTile kSmall{64, 4};
constexpr std::array kTileRows{
    // In software registers are memory: larger tiles gain nothing and take minutes to compile, so no others are tried.
    TileRow{.maker = MatrixMaker::Software, .few = kSmall, .many = kSmall},
    // Subgroups of 32, with up to 255 registers an invocation. 64 x 64 by four: 32 sums, so that a multiprocessor has
    // room for several workgroups. 128 x 128 by eight: 64 sums; by four they would be 128.
    TileRow{MatrixMaker::Nvidia, 32, kSmall, kCores, {128, 8}},
    // RADV's default. On Navi31 64 x 64 by four (16 sums) needs 96 to 156 of 256 registers, 128 x 128 by four (64 sums)
    // 156 to 216, and neither spills. By eight each subgroup would read half again as much from shared memory.
    TileRow{MatrixMaker::Amd, 64, kSmall, kCores, {128, 4}},
    // Only if such subgroups are asked for: 128 x 128 by eight (64 sums) needs 240 to 256 of 256 registers there, so
    // that a SIMD holds fewer invocations than in subgroups of 64.
    TileRow{MatrixMaker::Amd, 32, kSmall, kCores, {128, 8}},
    // For an Arc A770 246 registers spill with 64 x 64 by eight subgroups of 16, 528 by four, and 468 by eight of 8.
    // For newer ones (Xe2) no compiler was at hand.
    TileRow{.maker = MatrixMaker::Intel, .unused = "not used where subgroups share registers: too few for their sums"},
    // All others (Adreno, Mali, PowerVR, emulated matrices) by their subgroups alone, so that 64 sums are not exceeded.
    TileRow{MatrixMaker::Other, 64, kSmall, kCores, {128, 4}},  // 16 and 64 sums
    TileRow{MatrixMaker::Other, 32, kSmall, kCores, {128, 8}},  // 32 and 64
    TileRow{MatrixMaker::Other, 16, kSmall, 0, kSmall},         // 64; 128 x 128 by eight would be 128
    TileRow{MatrixMaker::Other, 1, {64, 8}, 0, {64, 8}},        // 64 with 8 invocations, the fewest there can be
};

const TileRow& row_of(const MatrixDevice& device) {
    return tile_row(device.maker, device.subgroup_size);
}

}  // namespace

MatrixMaker matrix_maker(const Capabilities& found) {
    if (found.software) {
        return MatrixMaker::Software;
    }
    if (found.subgroup_sizes.share_registers()) {
        return MatrixMaker::Intel;
    }
    switch (found.properties.vendorID) {
        case kVendorNvidia: return MatrixMaker::Nvidia;
        case kVendorAmd: return MatrixMaker::Amd;
        default: return MatrixMaker::Other;
    }
}

std::optional<MatrixDevice> matrix_device(const Capabilities& found, const Options& options, bool bf16) {
    const bool emulated = options.emulated_matrices;
    const CooperativeMatrices& matrices = bf16 ? found.bf16_matrices : found.matrices;
    if ((!emulated && !matrices.usable()) || (bf16 && !options.bf16_matrix)) {
        return std::nullopt;
    }
    const VkPhysicalDeviceLimits& limits = found.properties.limits;
    MatrixDevice device{.sizes = emulated ? kEmulatedSizes : matrices.sizes,
                        .maker = emulated ? MatrixMaker::Other : matrix_maker(found),  // the emulation runs as on a GPU
                        .bf16 = bf16,
                        .subgroup_size = emulated ? kEmulatedSubgroup : found.subgroup_size,
                        .shared_bytes = limits.maxComputeSharedMemorySize,
                        .most_invocations = limits.maxComputeWorkGroupInvocations,
                        .emulated = emulated,
                        .side = options.matrix_side,
                        .wrong = bf16 ? options.wrong_bf16_tiles : options.wrong_tiles};
    return matrix_tiles(device).empty() ? std::nullopt : std::optional(device);
}

bool fit_heads(const MatrixSizes& sizes) {
    return divides(sizes.m, kHeadPadding) && divides(sizes.n, kHeadPadding) && divides(4, sizes.n) &&
           divides(sizes.k, kHeadPadding);
}

bool attends_by(const std::optional<MatrixDevice>& matrices, const Options& options) {
    return matrices && fit_heads(matrices->sizes) && options.cooperative_attention &&
           options.fused_attention != FusedAttention::Never;
}

std::optional<MatrixStaging> staging_of(const MatrixDevice& device, const MatrixTile& tile) {
    const MatrixSizes& sizes = device.sizes;
    const std::uint32_t lanes = tile.subgroups * device.subgroup_size;
    const bool divided = divides(sizes.m, tile.side / kRowsOfSubgroups) &&
                         divides(sizes.n, tile.side / (tile.subgroups / kRowsOfSubgroups)) && divides(8, sizes.k) &&
                         divides(4, sizes.n) && lanes <= device.most_invocations;
    const auto fits = [&](const MatrixStaging& staging) {
        const std::uint32_t staged = staging.stages * 2 * tile.side * (staging.depth + kPadding) * kHalf;
        const std::uint32_t results = tile.subgroups * sizes.m * sizes.n * static_cast<std::uint32_t>(sizeof(float));
        return divides(sizes.k, staging.depth) && divides(kPiece * lanes, tile.side * staging.depth) &&
               std::max(staged, results) <= device.shared_bytes;
    };
    // Fewer barriers for as many terms, the more the better. Software gains nothing by either; the emulation tries what
    // would not fit its memory in two stages.
    constexpr MatrixStaging kPlain{32, 1};
    constexpr std::array<MatrixStaging, 4> kStagings{{{64, 2}, {32, 2}, {64, 1}, kPlain}};
    constexpr MatrixStaging kDeep{64, 1};
    if (!divided) {
        return std::nullopt;
    }
    const bool deep = device.emulated && tile.subgroups == 8;
    const auto* const first = deep && fits(kDeep)                     ? &kDeep
                              : device.maker == MatrixMaker::Software ? (fits(kPlain) ? &kPlain : nullptr)
                                                                      : nullptr;
    if (first != nullptr) {
        return *first;
    }
    const auto* const found = std::find_if(kStagings.begin(), kStagings.end(), fits);
    return found == kStagings.end() ? std::nullopt : std::optional(*found);
}

std::vector<MatrixTile> matrix_tiles(const MatrixDevice& device) {
    std::vector<MatrixTile> tiles(kMatrixTiles.begin(), kMatrixTiles.end());
    std::erase_if(tiles, [&](const MatrixTile& tile) {
        const bool slow = device.maker == MatrixMaker::Software && tile != row_of(device).few;
        return slow || !staging_of(device, tile) ||
               std::find(device.wrong.begin(), device.wrong.end(), tile) != device.wrong.end();
    });
    const bool has_side =
        std::any_of(tiles.begin(), tiles.end(), [&](const auto& tile) { return tile.side == device.side; });
    std::erase_if(tiles, [&](const MatrixTile& tile) { return has_side && tile.side != device.side; });
    return tiles;
}

std::span<const TileRow> tile_rows() {
    return kTileRows;
}

const TileRow& tile_row(MatrixMaker maker, std::uint32_t subgroup_size) {
    return *std::find_if(kTileRows.begin(), kTileRows.end(), [&](const TileRow& row) {
        return (row.maker == maker || row.maker == MatrixMaker::Other) && subgroup_size >= row.least_subgroup;
    });
}

MatrixTile choose_matrix_tile(const MatrixDevice& device, std::uint32_t m, std::uint32_t n, std::uint64_t batch) {
    const TileRow& row = row_of(device);
    const std::vector<MatrixTile> tiles = matrix_tiles(device);
    const auto has = [&](const MatrixTile& tile) { return std::find(tiles.begin(), tiles.end(), tile) != tiles.end(); };
    if (has(row.many) && count(row.many, m, n, batch) >= row.enough) {
        return row.many;
    }
    if (has(row.few)) {
        return row.few;
    }
    // The row's tiles failed their trial, do not fit, or are not of the side that was asked for.
    MatrixTile chosen = tiles.front();
    for (const MatrixTile& tile : tiles) {
        if (sums_of_invocation(device, chosen) > kMostSums &&
            sums_of_invocation(device, tile) < sums_of_invocation(device, chosen)) {
            chosen = tile;
        }
    }
    return chosen;
}

}  // namespace headscope::vulkan
