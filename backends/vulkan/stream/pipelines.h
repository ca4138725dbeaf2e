// Compute pipelines, compiled on first use on separate threads, and kept.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <future>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "backends/vulkan/device/device.h"
#include "backends/vulkan/device/reflect.h"
#include "backends/vulkan/stream/pipeline_workers.h"
#include "kernels.h"
#include "shaders/include/interface.h"
#include "support/check.h"
#include "tensor/dtype.h"

namespace headscope::vulkan {

struct Specialisation {
    std::uint32_t local_size = 64;
    Constants constants{};         // the kernel's own: values() of its struct in params.h
    bool texels = false;           // the module that reads through texel buffers
    DType storage = DType::F32;    // of the op's own type: set by the stream, like the next
    bool converts_halves = false;  // HalfConversions
    // clang-tidy 14 takes the comparison's 0 for a pointer. NOLINTNEXTLINE(modernize-use-nullptr)
    auto operator<=>(const Specialisation&) const = default;
};

struct Pipeline {
    VkPipelineLayout layout = VK_NULL_HANDLE;
    VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
    std::vector<BindingKind> bindings;
    std::shared_future<VkPipeline> compiled{};

    bool ready() const { return compiled.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
    // Waits. Error if the driver cannot compile the kernel.
    VkPipeline handle() const { return compiled.get(); }
};

VkDescriptorType descriptor_type(BindingKind kind);

// The driver failed to compile a kernel.
class CannotCompile : public Error {
public:
    using Error::Error;
};

// Statistics of the cache on disk.
struct CacheUse {
    std::size_t loaded_bytes = 0;  // passed to the driver at the start
    std::size_t held_bytes = 0;    // the driver's size right after: less if it rejected some
    int created = 0;               // pipelines
    int found = 0;                 // of these in the cache; 0 on a driver without creation feedback
};

class Pipelines {
public:
    // `threads` compile; with 0 get() compiles.
    Pipelines(const Device& device, const std::string& cache_directory, unsigned threads);
    Pipelines(const Pipelines&) = delete;
    Pipelines& operator=(const Pipelines&) = delete;
    ~Pipelines();

    // Bytes of push constants in every layout: the minimum that Vulkan guarantees.
    static constexpr std::uint32_t kPushBytes = 128;

    // The pipeline, possibly still being compiled.
    const Pipeline& get(Kernel kernel, const Specialisation& specialisation);
    // "matmul, 8 lanes, constants 8 8": for reports.
    std::string title(Kernel kernel, const Specialisation& specialisation) const;
    CacheUse cache_use() const;

    // Whether kernels widen F16 by the device's conversion from now on; initially they do not.
    void convert_halves(bool own) { converts_halves_ = own; }
    // Specialisation::converts_halves of a kernel for tensors in this storage.
    bool converts_halves(Kernel kernel, DType storage) const {
        return converts_halves_ && (storage == DType::F16 || kernel == Kernel::Convert);
    }

private:
    struct Layout {
        VkDescriptorSetLayout set = VK_NULL_HANDLE;
        VkPipelineLayout pipeline = VK_NULL_HANDLE;
    };
    const Layout& layout_for(const std::vector<BindingKind>& bindings);
    Pipeline create(Kernel kernel, const Specialisation& specialisation);
    std::span<const std::uint32_t> spirv_of(Kernel kernel, const Specialisation& specialisation) const;
    // May run on any thread: Vulkan locks its own cache.
    VkPipeline build(Kernel kernel, const Specialisation& specialisation, VkPipelineLayout layout);
    VkPipeline compile(const VkComputePipelineCreateInfo& info, const char* kernel);
    std::size_t held_bytes() const;
    void save() const;

    const Device& device_;
    std::string cache_path_;
    bool converts_halves_ = false;
    VkPipelineCache cache_ = VK_NULL_HANDLE;
    CacheUse use_;  // under use_mutex_
    mutable std::mutex use_mutex_;
    std::map<std::vector<BindingKind>, Layout> layouts_;
    std::map<std::pair<Kernel, Specialisation>, Pipeline> pipelines_;
    std::unique_ptr<PipelineWorkers> workers_;
};

}  // namespace headscope::vulkan
