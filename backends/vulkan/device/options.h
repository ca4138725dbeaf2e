// What a user may switch off or on, mostly to prove that the fast paths equal the plain ones.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/open_options.h"

namespace headscope::vulkan {

// Where the operands of a product are kept that several invocations share.
enum class ProductTiles : std::uint8_t {
    Device,  // shared memory on a GPU; on a CPU, whose barriers are dear, a subgroup's registers
    Shared,
    None,
};

constexpr std::uint32_t kMostRowLanes = 256;     // reduce.glsl
constexpr std::uint32_t kLargeMatrixSide = 128;  // cooperative_tiles.glsl
constexpr std::uint32_t kLargeTile = 8;          // matmul_tiled.comp

// Cooperative matrices compute side x side outputs in a workgroup of this many subgroups.
struct MatrixTile {
    std::uint32_t side = 64;
    std::uint32_t subgroups = 4;
    bool operator==(const MatrixTile&) const = default;
};
constexpr std::array<MatrixTile, 4> kMatrixTiles{{{}, {64, 8}, {kLargeMatrixSide, 4}, {kLargeMatrixSide, 8}}};

// Who decides whether attention runs as one op or is composed of products. Always: and in the form that GPUs run.
enum class FusedAttention : std::uint8_t { WhereFaster, Never, Always };

// Whether F16 is widened by the device's conversion instruction or by bit operations.
enum class HalfConversions : std::uint8_t { OfGpus, Never, Always };

// An error added to what a trial compares, for tests.
struct TrialError {
    std::uint32_t millionths = 0;
    std::uint32_t side = 0;  // of the matrix tiles that err; 0 for all
    float factor(std::uint32_t of_side) const {
        return side == 0 || side == of_side ? 1.0F + 1e-6F * static_cast<float>(millionths) : 1.0F;
    }
};

struct Options {
    bool validation = false;              // the Khronos layer; any message becomes an Error
    bool push_descriptors = true;         // else descriptor sets from pools
    bool vector_loads = true;             // products and attention with four elements a load, where operands allow it
    bool texel_loads = true;              // the same through texel buffers, where a CPU plays the GPU
    bool transfers = true;                // fills and copies by the queue's commands, where a CPU plays the GPU
    bool cooperative_matrix = true;       // products in F16 by the device's matrices, where it has them
    bool emulated_matrices = false;       // these products by matrices of plain numbers
    std::uint32_t matrix_side = 0;        // of all tiles in which matrices multiply; 0 for the choice by shape
    std::vector<MatrixTile> wrong_tiles;  // failed their trial
    bool subgroups = true;                // else reductions through shared memory alone
    bool trials = true;                   // of features that drivers get wrong: device_trial.h
    bool uniform_control_flow = true;     // of subgroups is asked for: control_flow.h
    std::uint32_t subgroup_size = 0;      // of all kernels that have subgroups; 0 for choose_subgroup_size
    ProductTiles tiles = ProductTiles::Device;
    std::uint32_t tile = 0;  // outputs of an invocation along each side, of all tiles in shared memory; 0 by shape
    bool storage16 = true;   // else nothing is stored in 16 bits
    HalfConversions half_conversions = HalfConversions::OfGpus;
    bool tuning = true;            // products as headscope tune found them fastest
    bool driver_probe = true;      // a child process asks new drivers first: driver_probe.h
    bool pipeline_threads = true;  // else pipelines are compiled one by one, where they are used
    bool replays = true;           // steps that come again are recorded once: Backend::replay
    bool timestamps = true;        // else events wait, and take the host's clock
    FusedAttention fused_attention = FusedAttention::WhereFaster;
    std::string cache_directory;         // of the pipeline cache; empty for none
    std::uint64_t max_memory_bytes = 0;  // of tensors, less than the device has; 0 for no limit of the user's

    // Below what the device allows, so that small tests meet what only large tensors would; 0 for the device's own.
    std::uint64_t max_binding_bytes = 0;
    std::uint32_t max_groups = 0;
    // Invocations of a workgroup that has a row to itself: more than a subgroup's where llvmpipe would have just one.
    std::uint32_t row_lanes = 0;

    Diagnostics diagnostics;

    // The submission, counted from 1, at which the device is taken to be lost, to try what happens then; 0 for none.
    std::uint64_t lost_at_submission = 0;

    // Makes the trials of matrices and conversions err. Software devices and emulated matrices have trials only then.
    std::optional<TrialError> trial_error;

    // The settings and the path that these options are made from, since verdicts of trials hold only for the same.
    std::string given;

    // By the settings of the switches (switches.h), HEADSCOPE_VULKAN_DISABLE after all others, and the cache in
    // XDG_CACHE_HOME/headscope, else HOME/.cache/headscope. Error for a value that means nothing.
    static Options from(const OpenOptions& open_options);
};

// Why what headscope tune would find is not to be kept, or cannot be; empty if it can.
std::string why_not_tuned(const Options& options);

// The options with this path of DeviceInfo::paths, or with none for "", on a device with subgroups of that size.
Options with_path(Options options, const std::string& path, std::uint32_t subgroup_size);

}  // namespace headscope::vulkan
