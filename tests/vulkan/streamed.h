// A stream on the fake driver, with small tensors and distinguishable dispatches.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "backends/vulkan/stream/stream.h"
#include "fake_loader.h"
#include "shaders/include/params.h"

namespace headscope::vulkan_tests {

using Executed = std::vector<std::string>;

inline void let_compile(FakeLoader& fake, bool may) {
    std::atomic_ref<bool>(fake->compiles_nothing) = !may;
}

struct Streamed {
    explicit Streamed(unsigned threads, std::uint64_t lost_at = 0, bool validation = false)
        : instance(std::make_shared<const vulkan::Instance>(validation)),
          pipelines(device, "", threads),
          stream(device, memory, pipelines, lost_at) {}

    std::shared_ptr<const vulkan::Instance> instance;
    VkPhysicalDevice physical = instance->devices().at(0);
    vulkan::Device device{instance, physical, vulkan::probe(instance->functions(), physical, 0, vulkan::Options())};
    std::shared_ptr<vulkan::Memory> memory = std::make_shared<vulkan::Memory>(device);
    vulkan::Pipelines pipelines;
    vulkan::Stream stream;

    Tensor tensor(std::int64_t elements = 4) {
        return make_tensor(memory->allocate(static_cast<std::size_t>(elements) * sizeof(float)), {elements},
                           DType::F32);
    }
    // Distinguished by their number of workgroups.
    void dispatch_fill(const Tensor& to, std::uint64_t groups) {
        stream.dispatch({.kernel = vulkan::Kernel::Fill, .groups = groups}, vulkan::FillParams{}, {.out = to});
    }
    void dispatch_copy(const Tensor& from, const Tensor& to, std::uint64_t groups) {
        stream.dispatch({.kernel = vulkan::Kernel::Copy, .groups = groups}, vulkan::CopyParams{},
                        {.x = from, .out = to});
    }
};

}  // namespace headscope::vulkan_tests
