// Devices, errors, memory and launches of the emulated runtime.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "emulator.h"
#include "memory.h"

namespace headscope::cuda_emulation {

namespace {

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::size_t memory_bytes() {
    return number_from_environment("HEADSCOPE_EMULATION_MEMORY", std::uint64_t{4} << 30U);
}

std::size_t page_bytes() {
    return number_from_environment("HEADSCOPE_EMULATION_PAGES", 0);
}

int architecture() {
    return static_cast<int>(number_from_environment("HEADSCOPE_EMULATION_SM", 90));
}

// What an architecture gives one block on request.
std::size_t most_shared_bytes(int sm) {
    return sm >= 90   ? kMostSharedBytes
           : sm == 80 ? 163 * 1024
           : sm >= 86 ? 99 * 1024
           : sm >= 75 ? 64 * 1024
           : sm == 70 ? 96 * 1024
                      : 48 * 1024;
}

struct Device {
    cudaError_t last = cudaSuccess;                   // cleared by cudaGetLastError
    cudaError_t fatal = cudaSuccess;                  // a kernel went wrong: every call fails from there on
    std::map<const void*, std::size_t> shared_bytes;  // of kernels that asked for more than the usual
    std::map<const void*, std::size_t> pinned;        // host memory, by its first byte
    std::map<const void*, std::size_t> allocated;
    std::size_t in_use = 0;
};

Device& device() {
    static std::array<Device, kDevices> devices;
    return devices[current_device()];
}

bool valid(const LaunchShape& shape, const void* kernel) {
    const std::uint64_t threads = std::uint64_t{shape.block.x} * shape.block.y * shape.block.z;
    const auto allowed = device().shared_bytes.find(kernel);
    const std::size_t most = allowed == device().shared_bytes.end() ? 48 * 1024 : allowed->second;
    return threads >= 1 && threads <= 1024 && shape.block.z <= 64 && shape.grid.x >= 1 && shape.grid.x <= 0x7FFFFFFF &&
           shape.grid.y >= 1 && shape.grid.y <= 65535 && shape.grid.z >= 1 && shape.grid.z <= 65535 &&
           shape.shared_bytes <= most;
}

}  // namespace

std::size_t& current_device() {
    static thread_local std::size_t current = 0;
    return current;
}

int compiled_architecture() {
    return static_cast<int>(number_from_environment("HEADSCOPE_EMULATION_PTX", architecture()));
}

cudaError_t remember(cudaError_t error) {
    if (error != cudaSuccess) {
        device().last = error;
    }
    return error;
}

cudaError_t fatal_error() {
    return device().fatal;
}

bool is_pinned(const void* memory) {
    const auto& pinned = device().pinned;
    auto found = pinned.upper_bound(memory);
    if (found == pinned.begin()) {
        return false;
    }
    --found;
    return static_cast<const char*>(memory) < static_cast<const char*>(found->first) + found->second;
}

void fault(cudaError_t error, const std::string& why) {
    std::fprintf(stderr, "cuda emulation: %s\n", why.c_str());
    device().fatal = error;
}

cudaError_t allow_shared_bytes(const void* kernel, int bytes) {
    if (bytes < 0 || static_cast<std::size_t>(bytes) > most_shared_bytes(architecture())) {
        return remember(cudaErrorInvalidValue);
    }
    device().shared_bytes[kernel] = static_cast<std::size_t>(bytes);
    return cudaSuccess;
}

LaunchShape& last_launch() {
    static thread_local LaunchShape last;
    return last;
}

int& launches() {
    static thread_local int count = 0;
    return count;
}

cudaError_t enqueue_launch(cudaStream_t stream, const LaunchShape& shape, const void* kernel,
                           std::function<void()> body) {
    if (fatal_error() != cudaSuccess) {
        return remember(fatal_error());
    }
    if (!valid(shape, kernel)) {
        return remember(cudaErrorInvalidConfiguration);
    }
    last_launch() = shape;
    ++launches();
    return enqueue(stream, [shape, body = std::move(body)] {
        if (const std::string complaint = run_launch(shape, body); !complaint.empty()) {
            fault(cudaErrorLaunchFailure, complaint);
        }
        return device().fatal;
    });
}

}  // namespace headscope::cuda_emulation

namespace emulation = headscope::cuda_emulation;

const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
        case cudaSuccess: return "cudaSuccess";
        case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
        case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
        case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
        case cudaErrorNoDevice: return "cudaErrorNoDevice";
        case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
        case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
        case cudaErrorNotReady: return "cudaErrorNotReady";
        case cudaErrorIllegalAddress: return "cudaErrorIllegalAddress";
        case cudaErrorMisalignedAddress: return "cudaErrorMisalignedAddress";
        case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
        case cudaErrorStreamCaptureUnsupported: return "cudaErrorStreamCaptureUnsupported";
        case cudaErrorStreamCaptureInvalidated: return "cudaErrorStreamCaptureInvalidated";
        case cudaErrorStreamCaptureUnmatched: return "cudaErrorStreamCaptureUnmatched";
    }
    return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
    return cudaGetErrorName(error);
}

cudaError_t cudaGetLastError() {
    const cudaError_t last = emulation::device().last;
    emulation::device().last = cudaSuccess;
    return emulation::fatal_error() != cudaSuccess ? emulation::fatal_error() : last;
}

cudaError_t cudaSetDevice(int device) {
    if (device < 0 || static_cast<std::size_t>(device) >= emulation::kDevices) {
        return emulation::remember(cudaErrorInvalidDevice);
    }
    emulation::current_device() = static_cast<std::size_t>(device);
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    if (device < 0 || static_cast<std::size_t>(device) >= emulation::kDevices) {
        return emulation::remember(cudaErrorInvalidDevice);
    }
    const int sm = emulation::architecture();
    *properties = {};
    fmt::format_to(properties->name, "CUDA emulated on the CPU");
    properties->uuid.bytes[0] = static_cast<char>(std::getenv("HEADSCOPE_EMULATION_ONE_GPU") == nullptr ? device : 0);
    properties->totalGlobalMem = emulation::memory_bytes();
    properties->sharedMemPerBlockOptin = emulation::most_shared_bytes(sm);
    properties->major = sm / 10;
    properties->minor = sm % 10;
    properties->multiProcessorCount = 3;  // odd, and few enough that grids are larger
    properties->l2CacheSize = 1 << 20;
    properties->maxThreadsPerMultiProcessor = 2048;
    properties->integrated = emulation::page_bytes() > 0 ? 1 : 0;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total) {
    *total = emulation::memory_bytes();
    const std::size_t unused = *total - emulation::device().in_use;
    *free_bytes = unused - std::min(unused, emulation::page_bytes());
    return emulation::fatal_error();
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
    emulation::Device& device = emulation::device();
    if (emulation::refuse_unsafe_in_capture()) {
        return emulation::remember(cudaErrorStreamCaptureUnsupported);
    }
    if (device.fatal != cudaSuccess) {
        return emulation::remember(device.fatal);
    }
    if (bytes > emulation::memory_bytes() - device.in_use) {
        return emulation::remember(cudaErrorMemoryAllocation);
    }
    const std::size_t rounded = (bytes + 255) / 256 * 256;
    *memory = std::aligned_alloc(256, rounded);
    if (*memory == nullptr) {
        return emulation::remember(cudaErrorMemoryAllocation);
    }
    std::memset(*memory, 0xFF, rounded);
    device.allocated[*memory] = bytes;
    device.in_use += bytes;
    return cudaSuccess;
}

cudaError_t cudaFree(void* memory) {
    emulation::drain_all();
    emulation::Device& device = emulation::device();
    const auto found = device.allocated.find(memory);
    if (memory == nullptr || found == device.allocated.end()) {
        return emulation::remember(memory == nullptr ? cudaSuccess : cudaErrorInvalidValue);
    }
    device.in_use -= found->second;
    device.allocated.erase(found);
    std::free(memory);
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
    *memory = std::malloc(bytes);
    if (*memory == nullptr) {
        return emulation::remember(cudaErrorMemoryAllocation);
    }
    emulation::device().pinned[*memory] = bytes;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void* memory) {
    emulation::drain_all();
    emulation::device().pinned.erase(memory);
    std::free(memory);
    return cudaSuccess;
}
