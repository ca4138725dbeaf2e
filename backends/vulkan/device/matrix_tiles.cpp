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

}  // namespace

std::optional<MatrixDevice> matrix_device(const Capabilities& found, const Options& options, bool bf16) {
    const bool emulated = options.emulated_matrices;
    const CooperativeMatrices& matrices = bf16 ? found.bf16_matrices : found.matrices;
    if ((!emulated && !matrices.usable()) || (bf16 && !options.bf16_matrix)) {
        return std::nullopt;
    }
    const VkPhysicalDeviceLimits& limits = found.properties.limits;
    MatrixDevice device{.sizes = emulated ? kEmulatedSizes : matrices.sizes,
                        .bf16 = bf16,
                        .subgroup_size = emulated ? kEmulatedSubgroup : found.subgroup_size,
                        .shared_bytes = limits.maxComputeSharedMemorySize,
                        .most_invocations = limits.maxComputeWorkGroupInvocations,
                        .software = found.software && !emulated,  // the emulation runs as on a GPU
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
    const auto* const first = deep && fits(kDeep) ? &kDeep
                              : device.software   ? (fits(kPlain) ? &kPlain : nullptr)
                                                  : nullptr;
    if (first != nullptr) {
        return *first;
    }
    const auto* const found = std::find_if(kStagings.begin(), kStagings.end(), fits);
    return found == kStagings.end() ? std::nullopt : std::optional(*found);
}

std::vector<MatrixTile> matrix_tiles(const MatrixDevice& device) {
    // Software, whose registers are memory, gets only the smallest: larger ones gain nothing and take minutes to
    // compile.
    std::vector<MatrixTile> tiles(kMatrixTiles.begin(),
                                  device.software ? kMatrixTiles.begin() + 1 : kMatrixTiles.end());
    std::erase_if(tiles, [&](const MatrixTile& tile) {
        return !staging_of(device, tile) ||
               std::find(device.wrong.begin(), device.wrong.end(), tile) != device.wrong.end();
    });
    const bool has_side =
        std::any_of(tiles.begin(), tiles.end(), [&](const auto& tile) { return tile.side == device.side; });
    std::erase_if(tiles, [&](const MatrixTile& tile) { return has_side && tile.side != device.side; });
    return tiles;
}

// Tiles of 128 x 128 read half as much, if there are enough of them for every core. A tile's sums are in registers, of
// which an invocation has 128 to 256: with more subgroups each invocation needs fewer.
MatrixTile choose_matrix_tile(const MatrixDevice& device, std::uint32_t m, std::uint32_t n, std::uint64_t batch) {
    constexpr std::uint32_t kMostSums = 64;
    constexpr std::uint64_t kEnough = 96;
    const std::vector<MatrixTile> tiles = matrix_tiles(device);
    MatrixTile chosen = tiles.front();
    for (const MatrixTile& tile : tiles) {
        const bool fewer_sums = sums_of_invocation(device, chosen) > kMostSums &&
                                sums_of_invocation(device, tile) < sums_of_invocation(device, chosen);
        const bool larger = tile.side > chosen.side && sums_of_invocation(device, tile) <= kMostSums &&
                            count(tile, m, n, batch) >= kEnough;
        if (fewer_sums || larger) {
            chosen = tile;
        }
    }
    return chosen;
}

}  // namespace headscope::vulkan
