#include "backends/vulkan/vulkan_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "backends/vulkan/device/driver_advice.h"
#include "backends/vulkan/device/driver_probe.h"
#include "backends/vulkan/device/switches.h"
#include "backends/vulkan/stream/event.h"
#include "backends/vulkan/trials/device_trial.h"
#include "backends/vulkan/vulkan_backend_impl.h"
#include "support/check.h"
#include "support/processors.h"

namespace headscope {

namespace {

void require_drivers(const vulkan::Options& options, const Settings& settings) {
    if (options.driver_probe) {
        vulkan::require_drivers_survive(options.cache_directory, settings);
    }
}

}  // namespace

VulkanDevices::VulkanDevices(const OpenOptions& open_options) : options_(open_options) {
    DeviceInfo none;
    none.id = "vulkan";
    none.backend = "vulkan";
    try {
        const vulkan::Options options = vulkan::Options::from(options_);
        require_drivers(options, options_.settings);
        instance_ = std::make_shared<const vulkan::Instance>(options.validation);
        for (const VkPhysicalDevice device : instance_->devices()) {
            const int index = static_cast<int>(list_.size());
            list_.push_back(vulkan::probe(instance_->functions(), device, index, options).info);
        }
        none.rejected = "no Vulkan device: " + vulkan::driver_advice();
    } catch (const Error& error) {
        instance_.reset();
        list_.clear();
        none.rejected = error.what();
    }
    if (list_.empty()) {
        list_.push_back(none);
    }
}

void require_vulkan_drivers(const OpenOptions& options) {
    require_drivers(vulkan::Options::from(options), options.settings);
}

std::vector<std::string> vulkan_settings() {
    std::vector<std::string> names{"HEADSCOPE_VULKAN_DISABLE"};
    for (const vulkan::Switch& each : vulkan::switches()) {
        if (each.is_variable()) {
            names.emplace_back(each.name);
        }
    }
    return names;
}

std::unique_ptr<Backend> VulkanDevices::open(int index, const std::string& path) const {
    if (instance_ == nullptr) {
        throw Error(list_[0].rejected);
    }
    vulkan::Options options = vulkan::Options::from(options_);
    const std::vector<VkPhysicalDevice>& devices = instance_->devices();
    if (index < 0 || static_cast<std::size_t>(index) >= devices.size()) {
        throw Error(fmt::format("unknown device vulkan:{}: found {} Vulkan device(s) (headscope devices lists them)",
                                index, devices.size()));
    }
    const VkPhysicalDevice physical = devices[static_cast<std::size_t>(index)];
    const vulkan::TrialDevice device{
        .probe =
            [&](const vulkan::Options& with) { return vulkan::probe(instance_->functions(), physical, index, with); },
        .open = [&](const vulkan::Probe& probed, const vulkan::Options& with) -> std::unique_ptr<Backend> {
            return std::make_unique<vulkan::VulkanBackend>(instance_, physical, probed, with);
        }};
    if (!path.empty()) {
        options = vulkan::with_path(options, path, device.probe(options).capabilities.subgroup_size);
    }
    const vulkan::Probe probed = vulkan::pass_trials(device, options);
    if (!probed.info.rejected.empty()) {
        throw Error(fmt::format("{} ({}) cannot be used: {}", probed.info.id, probed.info.name, probed.info.rejected));
    }
    return device.open(probed, options);
}

}  // namespace headscope

namespace headscope::vulkan {

namespace {

constexpr const char* kNoStorage16 = "no 16-bit storage buffers (storageBuffer16BitAccess)";

ProductDevice product_device(const Capabilities& found, const Options& options) {
    return {.software = found.software,
            .vector_loads = options.vector_loads,
            .subgroup_shuffles = found.subgroup_shuffles && found.full_subgroups,
            .subgroup_size = found.subgroup_size,
            .shared_bytes = found.properties.limits.maxComputeSharedMemorySize,
            .tiles = options.tiles,
            .tile = options.tile,
            .matrices = matrix_device(found, options, false),
            .bf16_matrices = matrix_device(found, options, true)};
}

// More shapes than a corpus has with lengths that are multiples of eight.
constexpr std::size_t kMostReplays = 128;

// Next to the recording thread; more threads do not speed up compiling.
unsigned pipeline_threads(const Options& options) {
    constexpr unsigned kMost = 8;
    const auto all = static_cast<unsigned>(processors());
    return options.pipeline_threads && all > 1 ? std::min(all, kMost) : 0;
}

}  // namespace

VulkanBackend::VulkanBackend(std::shared_ptr<const Instance> instance, VkPhysicalDevice physical, Probe probed,
                             const Options& options)
    : options_(options),
      device_(std::move(instance), physical, std::move(probed)),
      product_device_(product_device(device_.capabilities(), options)),
      tuning_(product_device_, device_.capabilities(), options.tuning ? options.cache_directory : "",
              why_not_tuned(options)),
      memory_(std::make_shared<Memory>(device_, options.max_memory_bytes)),
      pipelines_(device_, options.cache_directory, pipeline_threads(options)),
      stream_(device_, memory_, pipelines_, options.lost_at_submission),
      replays_(kMostReplays) {
    pipelines_.convert_halves(half_conversion(device_.capabilities(), options).own);
    memory_->make_room = [this] { return make_room(); };
    memory_->awaited = [this](std::uint32_t block) { return stream_.awaits(block); };
}

bool VulkanBackend::make_room() {
    if (stream_.recording()) {
        return false;  // unsubmitted work cannot be waited for; replay() runs without the recording
    }
    stream_.finish();
    replays_.clear();
    return true;
}

void VulkanBackend::trim() {
    if (memory_->trim()) {
        replays_.clear();  // another block may reuse a removed block's number
    }
}

Tensor VulkanBackend::empty(const Shape& shape, DType dtype) {
    stream_.require_submitted();
    const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
    return make_tensor(memory_->allocate(bytes), shape, dtype);
}

void VulkanBackend::upload(const Tensor& to, const void* from, std::size_t bytes) {
    HEADSCOPE_CHECK(to.contiguous() && static_cast<std::size_t>(to.elements()) * size_of(to.dtype) == bytes,
                    fmt::format("{} bytes cannot be uploaded to {}", bytes, to.to_string()));
    stream_.upload(to, static_cast<const std::byte*>(from), bytes);
}

void VulkanBackend::download(const Tensor& from, void* to, std::size_t bytes) {
    HEADSCOPE_CHECK(from.contiguous() && static_cast<std::size_t>(from.elements()) * size_of(from.dtype) == bytes,
                    fmt::format("{} bytes cannot be downloaded from {}", bytes, from.to_string()));
    stream_.download(from, static_cast<std::byte*>(to), bytes);
    trim();
}

void VulkanBackend::synchronize() {
    stream_.synchronize();
    trim();
}

std::shared_ptr<Event> VulkanBackend::record_event() {
    if (events().level != SupportLevel::Native) {
        return Backend::record_event();
    }
    return std::make_shared<StreamEvent>(stream_);
}

void VulkanBackend::replay(const std::string& key, const std::function<void()>& body) {
    if (!options_.replays || stream_.recording()) {
        body();
        return;
    }
    const auto record = [&] { return stream_.record(body); };
    const auto launch = [&](const std::shared_ptr<const Recording>& recording) { stream_.launch(recording); };
    if (replays_.replay(key, *memory_, record, launch)) {
        return;
    }
    const Stream::Load before = stream_.asked();
    body();
    const Stream::Load after = stream_.asked();
    // Recording gains nothing for long dispatches, and holds memory.
    if (!stream_.short_dispatches({after.dispatches - before.dispatches, after.work - before.work})) {
        replays_.disregard(key);
    }
}

Support VulkanBackend::events() const {
    return device_.capabilities().timestamp_bits > 0
               ? Support{}
               : Support{SupportLevel::Composed, "the device's queue has no timestamps"};
}

Support VulkanBackend::support(OpId op, DType dtype) const {
    if (is_narrow(dtype) && !device_.capabilities().storage16) {
        return {SupportLevel::None, kNoStorage16};
    }
    const bool attention = op == OpId::Attention || op == OpId::AttentionBackward;
    if (attention && (dtype == DType::F32 || is_narrow(dtype)) && options_.fused_attention == FusedAttention::Never) {
        return {SupportLevel::Composed, "switched off: products around a masked softmax"};
    }
    if (dtype == DType::F32 || (dtype == DType::I32 && (op == OpId::Fill || op == OpId::GatherRows))) {
        return {};
    }
    if (is_narrow(dtype) && op != OpId::SquareSum && op != OpId::StepControl) {
        return {};
    }
    return {SupportLevel::None,
            fmt::format("the vulkan backend has no {} for {}", headscope::name_of(op), headscope::name_of(dtype))};
}

Support VulkanBackend::products(Compute compute) const {
    switch (compute) {
        case Compute::F32: return {};
        case Compute::TF32: return {SupportLevel::None, "the vulkan backend has no TF32"};
        case Compute::F16:
        case Compute::BF16: {
            const auto& matrices = compute == Compute::F16 ? product_device_.matrices : product_device_.bf16_matrices;
            return matrices && !matrices->emulated
                       ? Support{}
                       : Support{SupportLevel::Composed, "operands are rounded, then multiplied in F32"};
        }
    }
    HEADSCOPE_CHECK(false, "unknown compute type");
}

Support VulkanBackend::weights(DType dtype) const {
    if (dtype != DType::F16) {
        return Backend::weights(dtype);
    }
    return device_.capabilities().storage16
               ? Support{SupportLevel::Composed, "each product works on a copy of its weights in F32"}
               : Support{SupportLevel::None, kNoStorage16};
}

Launch VulkanBackend::launch_of(Kernel kernel) const {
    Launch launch;
    launch.kernel = kernel;
    launch.specialisation.texels = device_.capabilities().texel_loads && !module_of(kernel).spirv_texels.empty();
    return launch;
}

Launch VulkanBackend::row_launch(Kernel kernel, std::uint64_t rows, std::uint64_t columns) const {
    Launch launch = launch_of(kernel);
    launch.groups = rows;
    launch.work_per_group = 32 * columns;
    // A row of 512 would be 32 numbers for each of 16 invocations: more than Intel's registers hold in the backward of
    // a layer norm.
    const Capabilities& found = device_.capabilities();
    launch.specialisation.local_size =
        options_.row_lanes != 0 ? options_.row_lanes : std::clamp(found.subgroup_size, found.software ? 4U : 32U, 128U);
    return launch;
}

Launch VulkanBackend::long_row_launch(Kernel kernel, std::uint64_t rows, std::uint64_t columns) const {
    constexpr std::uint32_t kLanes = 256;
    Launch launch = row_launch(kernel, rows, columns);
    if (!device_.capabilities().software && options_.row_lanes == 0) {
        launch.specialisation.local_size = kLanes;
    }
    return launch;
}

Launch VulkanBackend::vec4_launch(Kernel kernel, std::uint64_t rows, std::uint64_t columns,
                                  std::uint64_t work_per_element) const {
    constexpr std::uint32_t kLanes = 256;
    Launch launch = launch_of(kernel);
    launch.groups = (rows * ((columns + 3) / 4) + kLanes - 1) / kLanes;
    launch.work_per_group = 4 * kLanes * work_per_element;
    launch.specialisation.local_size = kLanes;
    return launch;
}

bool VulkanBackend::vec4_loads(std::uint64_t columns, std::initializer_list<const Tensor*> tensors) const {
    return options_.vector_loads && columns % 4 == 0 &&
           std::all_of(tensors.begin(), tensors.end(),
                       [](const Tensor* tensor) { return !tensor->defined() || tensor->offset % 4 == 0; });
}

void VulkanBackend::require_types(const char* op, const Declarations& operands) const {
    for (const Declared& operand : operands) {
        const Tensor& tensor = *operand.tensor;
        if (!tensor.defined() || operand.type == OperandType::Index || tensor.dtype == DType::F32) {
            continue;
        }
        if (!is_narrow(tensor.dtype) || operand.type == OperandType::Full) {
            throw Error(fmt::format("the vulkan backend has no {} with {} {}", op, operand.name, tensor.to_string()));
        }
        if (!device_.capabilities().storage16) {
            throw Error(fmt::format("{} ({}) has {}, which {} of {} needs: use f32, or choose another --device",
                                    device_.info().id, device_.info().name, kNoStorage16, op, tensor.to_string()));
        }
    }
}

void VulkanBackend::for_row_tiles(std::int64_t rows, std::int64_t row_elements,
                                  const std::function<void(std::int64_t, std::int64_t)>& body) const {
    const auto row_bytes = std::max<std::uint64_t>(static_cast<std::uint64_t>(row_elements) * sizeof(float), 1);
    const std::uint64_t most = stream_.max_binding_bytes() / row_bytes;
    HEADSCOPE_CHECK(most > 0, fmt::format("one row of {} elements is larger than a binding", row_elements));
    const auto step =
        static_cast<std::int64_t>(std::min<std::uint64_t>(most, std::numeric_limits<std::int32_t>::max()));
    for (std::int64_t first = 0; first < rows; first += step) {
        body(first, std::min(step, rows - first));
    }
}

bool VulkanBackend::fits_binding(const Tensor& tensor) const {
    std::int64_t span = 1;
    for (int dim = 0; dim < tensor.rank(); ++dim) {
        span += tensor.dim(dim) > 0 ? (tensor.dim(dim) - 1) * tensor.stride(dim) : 0;
    }
    return fits_binding(span, tensor.dtype);
}

bool VulkanBackend::fits_binding(std::int64_t elements, DType dtype) const {
    return static_cast<std::uint64_t>(elements) * size_of(dtype) <= stream_.max_binding_bytes();
}

void VulkanBackend::for_tiles(const std::vector<Tensor>& tensors,
                              const std::function<void(const std::vector<Tensor>&)>& body) const {
    if (std::all_of(tensors.begin(), tensors.end(), [this](const Tensor& tensor) { return fits_binding(tensor); })) {
        body(tensors);
        return;
    }
    int dim = 0;
    while (tensors[0].dim(dim) == 1) {
        ++dim;
    }
    const std::int64_t size = tensors[0].dim(dim);
    for (const auto& [first, count] : {std::pair{std::int64_t{0}, size / 2}, std::pair{size / 2, size - size / 2}}) {
        std::vector<Tensor> half;
        half.reserve(tensors.size());
        for (const Tensor& tensor : tensors) {
            half.push_back(tensor.narrow(dim, first, count));
        }
        for_tiles(half, body);
    }
}

std::uint32_t u32(std::int64_t value) {
    HEADSCOPE_CHECK(value >= 0 && value <= std::numeric_limits<std::uint32_t>::max(),
                    fmt::format("{} does not fit the 32 bits of a shader's index", value));
    return static_cast<std::uint32_t>(value);
}

std::uint32_t bits_of(float value, DType dtype) {
    return dtype == DType::F16    ? to_f16(value)
           : dtype == DType::BF16 ? to_bf16(value)
                                  : std::bit_cast<std::uint32_t>(value);
}

DropoutParams dropout_params(const DropoutRule& rule) {
    constexpr float kBits = 65536.0F;
    DropoutParams params{};
    params.threshold = rule.rate > 0.0F ? dropout_threshold(rule.rate) : 0;
    params.seed = rule.seed;
    params.site = rule.site;
    params.scale = kBits / (kBits - static_cast<float>(params.threshold));
    return params;
}

std::uint32_t mask_bits(const AttentionMask& mask) {
    return (mask.key_lengths.defined() ? 1U : 0U) | (mask.causal ? 2U : 0U) | (mask.query_offset.defined() ? 4U : 0U) |
           (mask.key_ranges.defined() ? 8U : 0U) | u32(mask.window) << 4U;
}

Tensor part_of(const Tensor& tensor, std::int64_t first, std::int64_t count) {
    return tensor.defined() ? tensor.narrow(0, first, count) : Tensor{};
}

Tensor as_rows(const Tensor& tensor) {
    if (!tensor.defined()) {
        return {};
    }
    const std::int64_t columns = tensor.dim(-1);
    return tensor.reshape({columns == 0 ? 0 : tensor.elements() / columns, columns});
}

}  // namespace headscope::vulkan
