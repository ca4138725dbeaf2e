// Compute pipelines, compiled when first asked for, on threads of their own, and kept.
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
#include "support/check.h"
#include "tensor/dtype.h"

namespace headscope::vulkan {

// constant_id 0 is the workgroup's size and 1 whether it is one subgroup; kernels number theirs from 2, and
// storage.glsl and round.glsl have one each of their own.
struct Specialisation {
    static constexpr std::size_t kExtra = 6;
    std::uint32_t local_size = 64;
    std::array<std::uint32_t, kExtra> extra{};
    bool texels = false;           // the module that reads through texel buffers
    DType storage = DType::F32;    // of the op's own type: the stream fills it in, and the next
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
    // Waits for it. Error where the driver cannot compile the kernel.
    VkPipeline handle() const { return compiled.get(); }
};

VkDescriptorType descriptor_type(BindingKind kind);

// A driver does not make a pipeline of a kernel.
class CannotCompile : public Error {
public:
    using Error::Error;
};

// What the cache on disk was good for.
struct CacheUse {
    std::size_t loaded_bytes = 0;  // given to the driver at the start
    std::size_t held_bytes = 0;    // what the driver would have written right after: less where it took not all
    int created = 0;               // pipelines
    int found = 0;                 // of these in the cache; 0 on a driver without creation feedback
};

class Pipelines {
public:
    // `threads` compile; with none a pipeline is ready as soon as it was asked for.
    Pipelines(const Device& device, const std::string& cache_directory, unsigned threads);
    Pipelines(const Pipelines&) = delete;
    Pipelines& operator=(const Pipelines&) = delete;
    ~Pipelines();

    // Bytes of push constants that every layout has: what Vulkan promises at least.
    static constexpr std::uint32_t kPushBytes = 128;

    // Compiled, or soon.
    const Pipeline& get(Kernel kernel, const Specialisation& specialisation);
    // "matmul, 8 lanes, constants 8 8": for reports.
    std::string title(Kernel kernel, const Specialisation& specialisation) const;
    CacheUse cache_use() const;

    // Whether kernels widen F16 by the device's own conversion from now on; they do not at first.
    void convert_halves(bool own) { converts_halves_ = own; }
    // Specialisation::converts_halves of a kernel over tensors that are stored so.
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
    // On any thread: Vulkan guards its own cache.
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
