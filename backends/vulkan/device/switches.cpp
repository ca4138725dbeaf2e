#include "backends/vulkan/device/switches.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "backends/vulkan/device/device.h"

namespace headscope::vulkan {

namespace {

template <class Number>
bool read(const std::string& text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size();
}

bool read(const std::string& text, bool& on) {
    on = text == "1";
    return on || text == "0";
}

bool set_tiles(Options& options, const std::string& value) {
    options.tiles = value == "shared" ? ProductTiles::Shared : ProductTiles::None;
    return value == "shared" || value == "none";
}

bool set_row_lanes(Options& options, const std::string& value) {
    const bool right = read(value, options.row_lanes) && options.row_lanes <= kMostRowLanes;
    return right && (options.row_lanes & (options.row_lanes - 1)) == 0;
}

bool set_half_conversions(Options& options, const std::string& value) {
    bool always = false;
    const bool right = read(value, always);
    options.half_conversions = always ? HalfConversions::Always : options.half_conversions;
    return right;
}

bool set_trial_error(Options& options, const std::string& value) {
    TrialError error;
    const std::size_t slash = value.find('/');
    options.trial_error = error;
    return read(value.substr(0, slash), options.trial_error->millionths) &&
           (slash == std::string::npos || read(value.substr(slash + 1), options.trial_error->side));
}

bool set_max_memory(Options& options, const std::string& value) {
    constexpr std::uint64_t kMostMebibytes = std::uint64_t{1} << 40U;
    const bool right = read(value, options.max_memory_bytes);
    options.max_memory_bytes = std::min(options.max_memory_bytes, kMostMebibytes) << 20U;
    return right;
}

bool chooses_tiles(const Capabilities& /*found*/, const Options& options) {
    return options.tiles == ProductTiles::Device;
}

constexpr Switch kSwitches[] = {
    {.name = "cooperative_matrix",
     .meaning = "products in F16 and BF16 by the device's matrices",
     .off = &Options::cooperative_matrix,
     .path = "no-cooperative-matrix",
     .offered = [](const Capabilities& found, const Options&) { return found.matrices.usable(); }},
    {.name = "bf16_matrix", .meaning = "those in BF16 alone", .off = &Options::bf16_matrix},
    {.name = "cooperative_attention",
     .meaning = "attention of short sentences by the device's matrices, in F16",
     .off = &Options::cooperative_attention,
     .path = "no-cooperative-attention",
     .offered = [](const Capabilities& found,
                   const Options& options) { return found.matrices.usable() && options.cooperative_attention; }},
    {.set =
         [](Options& options, const std::string&) {
             options.matrix_side = kLargeMatrixSide;
             return true;
         },
     .path = "large-matrix-tiles",
     .offered = [](const Capabilities& found, const Options&) { return found.matrices.usable() && !found.software; }},
    {.name = "subgroups",
     .meaning = "reductions by subgroups; without them they go through shared memory",
     .off = &Options::subgroups,
     .path = "no-subgroups",
     .offered = [](const Capabilities& found,
                   const Options&) { return found.subgroup_arithmetic || found.subgroup_shuffles; }},
    {.name = "HEADSCOPE_VULKAN_SUBGROUP_SIZE",
     .value = "a whole number",
     .meaning = "invocations of a subgroup, where the device has several sizes (Intel, AMD since RDNA); nothing is "
                "tuned then",
     .set = [](Options& options, const std::string& value) { return read(value, options.subgroup_size); },
     .path = "subgroups-of-",
     .offered =
         [](const Capabilities& found, const Options& options) {
             return (found.subgroup_arithmetic || found.subgroup_shuffles) && options.subgroup_size == 0;
         }},
    {.name = "HEADSCOPE_VULKAN_TILES",
     .value = "shared or none",
     .meaning = "`shared`: products through shared memory on a software device too; `none`: without it on a GPU",
     .set = set_tiles},
    {.set = set_tiles,
     .path = "shared-tiles",
     .path_value = "shared",
     .offered = [](const Capabilities& found,
                   const Options& options) { return found.software && chooses_tiles(found, options); }},
    {.set = set_tiles,
     .path = "no-shared-tiles",
     .path_value = "none",
     .offered = [](const Capabilities& found,
                   const Options& options) { return !found.software && chooses_tiles(found, options); }},
    {.set =
         [](Options& options, const std::string&) {
             options.tiles = ProductTiles::Shared;
             options.tile = kLargeTile;
             return true;
         },
     .path = "large-tiles",
     .offered = chooses_tiles},
    {.name = "vector_loads",
     .meaning = "products and attention that load four elements at a time",
     .off = &Options::vector_loads,
     .path = "no-vector-loads",
     .offered = [](const Capabilities&, const Options& options) { return options.vector_loads; }},
    {.name = "texel_loads",
     .meaning = "the same through texel buffers, on a software device",
     .off = &Options::texel_loads,
     .path = "no-texel-loads",
     .offered = [](const Capabilities& found, const Options&) { return found.texel_loads; }},
    {.name = "transfers",
     .meaning = "fills and copies by the queue's commands, on a software device",
     .off = &Options::transfers,
     .path = "no-transfers",
     .offered = [](const Capabilities& found, const Options& options) { return found.software && options.transfers; }},
    {.name = "HEADSCOPE_VULKAN_EMULATE_MATRICES",
     .value = "1 or 0",
     .meaning =
         "products in F16 and BF16, and attention in F16, in the tiles of cooperative matrices, with plain numbers, "
         "on any device; nothing is tuned then",
     .set = [](Options& options, const std::string& value) { return read(value, options.emulated_matrices); },
     .path = "cooperative-matrix-emulated",
     .path_value = "1",
     .offered = [](const Capabilities&, const Options& options) { return !options.emulated_matrices; }},
    {.set =
         [](Options& options, const std::string&) {
             options.emulated_matrices = true;
             options.matrix_side = kLargeMatrixSide;
             return true;
         },
     .path = "large-matrix-tiles-emulated",
     .offered = [](const Capabilities&, const Options& options) { return !options.emulated_matrices; }},
    {.name = "HEADSCOPE_VULKAN_HALF_CONVERSIONS",
     .value = "1 or 0",
     .meaning = "F16 widened by the device's own conversion on a software device too",
     .set = set_half_conversions,
     .path = "half-conversions",
     .path_value = "1",
     .offered =
         [](const Capabilities& found, const Options& options) {
             return found.storage16 && options.half_conversions == HalfConversions::OfGpus && found.software;
         }},
    {.name = "half_conversions",
     .meaning = "F16 widened by the device's own conversion; without it by bits",
     .set =
         [](Options& options, const std::string&) {
             options.half_conversions = HalfConversions::Never;
             return true;
         },
     .path = "no-half-conversions",
     .offered =
         [](const Capabilities& found, const Options& options) {
             return found.storage16 && options.half_conversions == HalfConversions::OfGpus && !found.software;
         }},
    {.name = "fused_attention",
     .meaning = "attention as one op; without it, it is composed of products",
     .set =
         [](Options& options, const std::string&) {
             options.fused_attention = FusedAttention::Never;
             return true;
         },
     .path = "no-fused-attention",
     .offered = [](const Capabilities&,
                   const Options& options) { return options.fused_attention == FusedAttention::WhereFaster; }},
    {.set =
         [](Options& options, const std::string&) {
             options.fused_attention = FusedAttention::Always;
             return true;
         },
     .path = "fused-attention",  // the default of GPUs
     .offered =
         [](const Capabilities& found, const Options& options) {
             return options.fused_attention == FusedAttention::WhereFaster && found.software;
         }},
    {.name = "push_descriptors",
     .meaning = "descriptors within commands; without them sets come from pools",
     .off = &Options::push_descriptors,
     .path = "no-push-descriptors",
     .offered = [](const Capabilities& found, const Options&) { return found.push_descriptors; }},
    {.name = "HEADSCOPE_VULKAN_ROW_LANES",
     .value = "a power of two, at most 256",
     .meaning = "invocations for each row of a reduction (for tests)",
     .set = set_row_lanes},
    {.set = set_row_lanes,
     .path = "one-subgroup-a-row",  // the default of software devices
     .offered = [](const Capabilities& found,
                   const Options& options) { return options.row_lanes == 0 && !found.software; }},
    {.set =
         [](Options& options, const std::string& value) {
             const bool right = read(value, options.row_lanes);
             options.row_lanes = std::min(8 * options.row_lanes, kMostRowLanes);
             return right;
         },
     .path = "several-subgroups-a-row",
     .offered = [](const Capabilities& found,
                   const Options& options) { return options.row_lanes == 0 && found.subgroup_size < kMostRowLanes; }},
    {.set =
         [](Options& options, const std::string&) {
             options.max_binding_bytes = std::uint64_t{320} << 10U;  // room for more ids than a grid has groups
             options.max_groups = 100;
             return true;
         },
     .path = "small-bindings",  // larger bindings and grids are split
     .offered = [](const Capabilities&,
                   const Options& options) { return options.max_binding_bytes == 0 && options.max_groups == 0; }},
    {.name = "HEADSCOPE_VULKAN_MAX_MEMORY",
     .value = "a number of MiB",
     .meaning = "the most device memory for tensors; beyond it batches get smaller, or fail",
     .set = set_max_memory},
    {.name = "HEADSCOPE_VULKAN_VALIDATION",
     .value = "1 or 0",
     .meaning = "Khronos validation: core and synchronisation of what a device computes, core of the window; a message "
                "is an error",
     .set = [](Options& options, const std::string& value) { return read(value, options.validation); }},
    {.name = "HEADSCOPE_VULKAN_MAX_BINDING",
     .value = "a number of bytes",
     .meaning = "the largest binding (for tests)",
     .set = [](Options& options, const std::string& value) { return read(value, options.max_binding_bytes); }},
    {.name = "HEADSCOPE_VULKAN_MAX_GROUPS",
     .value = "a whole number",
     .meaning = "the most workgroups of a dispatch (for tests)",
     .set = [](Options& options, const std::string& value) { return read(value, options.max_groups); }},
    {.name = "HEADSCOPE_VULKAN_LOST_AT",
     .value = "a whole number",
     .meaning = "the submission, counted from 1, at which the device counts as lost (for tests)",
     .set = [](Options& options, const std::string& value) { return read(value, options.lost_at_submission); }},
    {.name = "HEADSCOPE_VULKAN_TRIAL_ERROR",
     .value = "millionths, or millionths/side",
     .meaning = "an error in the trials of matrices (of tiles of that side) and of conversions (for tests)",
     .set = set_trial_error},
    {.name = "trials",
     .meaning = "comparing a GPU's subgroups, F16 conversions and matrices with the host before their first use",
     .off = &Options::trials},
    {.name = "uniform_control_flow",
     .meaning = "asking the driver for uniform control flow of subgroups",
     .off = &Options::uniform_control_flow},
    {.name = "storage16", .meaning = "storage in 16 bits", .off = &Options::storage16},
    {.name = "tuning", .meaning = "the products that `headscope tune` found", .off = &Options::tuning},
    {.name = "replays", .meaning = "recording repeated steps once", .off = &Options::replays},
    {.name = "timestamps", .meaning = "the device's clock; without it events wait", .off = &Options::timestamps},
    {.name = "pipeline_threads", .meaning = "compiling kernels on several threads", .off = &Options::pipeline_threads},
    {.name = "driver_probe", .meaning = "asking new drivers in a child process first", .off = &Options::driver_probe},
    {.name = "pipeline_cache",
     .meaning = "the cache of compiled kernels, and with it `tuning`",
     .set =
         [](Options& options, const std::string&) {
             options.cache_directory.clear();
             return true;
         }},
};

}  // namespace

bool Switch::apply(Options& options, const std::string& to) const {
    if (off != nullptr) {
        options.*off = false;
        return true;
    }
    return set(options, to);
}

std::span<const Switch> switches() {
    return kSwitches;
}

}  // namespace headscope::vulkan
