// A fake kernel driver of a GPU, as far as Mesa's Vulkan drivers use one before they compile: the GPU's properties,
// buffers that the host can map, contexts, and fences that are always signalled. Nothing is ever run.
// HEADSCOPE_GPU=VENDOR:DEVICE[:CHIPSET] names the GPU by its hexadecimal PCI numbers: 8086:9a49, or 10de:2503:176 for
// NVIDIA's with its chipset. HEADSCOPE_GPU_NODE=FILE is an empty file that stands for its device node, with fewer than
// 20 characters. Without HEADSCOPE_GPU there is no GPU, whatever the machine has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace headscope::compile_only {

struct Gpu {
    std::uint32_t vendor = 0;
    std::uint32_t device = 0;
    std::uint32_t chipset = 0;
};
const Gpu& gpu();

constexpr std::uint64_t kGpuMemory = std::uint64_t{16} << 30U;

// A buffer of the device whose node is open as `fd`: its handle, and where in the node it is mapped.
struct GpuBuffer {
    std::uint32_t handle = 0;
    std::uint64_t offset = 0;
};
GpuBuffer make_buffer(int fd, std::uint64_t bytes);
std::uint64_t offset_of(std::uint32_t handle);

// An unknown ioctl: -1 with EINVAL, like an old kernel. Logged with HEADSCOPE_GPU_LOG=1.
int unknown(const char* kind, std::uint64_t number);

// The drivers' own ioctls: `number` counts from DRM_COMMAND_BASE, `arg` is what the caller passed.
int i915(int fd, std::uint32_t number, void* arg);
int nouveau(int fd, std::uint32_t number, void* arg);

}  // namespace headscope::compile_only
