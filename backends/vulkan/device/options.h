// What users can enable and disable, mostly to prove that the fast paths equal the plain ones.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/open_options.h"

namespace headscope::vulkan {

// Where operands of a product are kept that several invocations share.
enum class ProductTiles : std::uint8_t {
    Device,  // shared memory on a GPU; a subgroup's registers on software devices, whose barriers are slow
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

// Whether attention is one op or composed of products. Always: also in the form for GPUs.
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
    bool vector_loads = true;             // vec4 loads in products and attention, where operands allow them
    bool texel_loads = true;              // the same through texel buffers, on software devices
    bool transfers = true;                // fills and copies by queue commands, on software devices
    bool cooperative_matrix = true;       // products by the device's matrices
    bool bf16_matrix = true;              // in BF16, too
    bool cooperative_attention = true;    // attention by these matrices, too
    bool emulated_matrices = false;       // all of that by emulated matrices
    std::uint32_t matrix_side = 0;        // of all tiles of matrices; 0 for the choice by shape
    std::vector<MatrixTile> wrong_tiles;  // failed their trial
    std::vector<MatrixTile> wrong_bf16_tiles;
    bool subgroups = true;             // else reductions only through shared memory
    bool trials = true;                // of features that drivers get wrong: device_trial.h
    bool uniform_control_flow = true;  // request it for subgroups: control_flow.h
    std::uint32_t subgroup_size = 0;   // of all kernels with subgroups; 0 for choose_subgroup_size
    ProductTiles tiles = ProductTiles::Device;
    std::uint32_t tile = 0;  // outputs of an invocation along each side of tiles in shared memory; 0 by shape
    bool storage16 = true;   // else no 16-bit storage
    HalfConversions half_conversions = HalfConversions::OfGpus;
    bool tuning = true;            // use the products that headscope tune found fastest
    bool driver_probe = true;      // list new drivers' devices in a child process first: driver_probe.h
    bool pipeline_threads = true;  // else pipelines are compiled one by one when used
    bool replays = true;           // record repeated steps once: Backend::replay
    bool timestamps = true;        // else events wait and use the host's clock
    FusedAttention fused_attention = FusedAttention::WhereFaster;
    std::string cache_directory;         // of the pipeline cache; empty for none
    std::uint64_t max_memory_bytes = 0;  // of tensors; 0 for no limit by the user

    // Below the device's limits, so that small tests reach them; 0 for the device's own.
    std::uint64_t max_binding_bytes = 0;
    std::uint32_t max_groups = 0;
    // Invocations of a workgroup that handles one row: more than a subgroup, where llvmpipe would have just one.
    std::uint32_t row_lanes = 0;

    Diagnostics diagnostics;

    // The submission, counted from 1, at which the device counts as lost (for tests); 0 for never.
    std::uint64_t lost_at_submission = 0;

    // Makes the trials of matrices and conversions err. Software devices and emulated matrices have trials only then.
    std::optional<TrialError> trial_error;

    // The settings and the path that these options are made from, since verdicts of trials hold only for the same.
    std::string given;

    // From the settings of the switches (switches.h), with HEADSCOPE_VULKAN_DISABLE last, and the cache in
    // XDG_CACHE_HOME/headscope, else HOME/.cache/headscope. Error for invalid values.
    static Options from(const OpenOptions& open_options);
};

// Why the results of headscope tune cannot be saved; empty if they can.
std::string why_not_tuned(const Options& options);

// The options for this path of DeviceInfo::paths ("" for none), on a device with subgroups of this size.
Options with_path(Options options, const std::string& path, std::uint32_t subgroup_size);

}  // namespace headscope::vulkan
