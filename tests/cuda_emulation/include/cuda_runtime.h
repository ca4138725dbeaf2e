// Stands in for CUDA's header of this name where the CUDA backend is compiled for the CPU, so that its kernels run in
// the tests of a machine without a GPU. Declares what the backend uses and nothing else, with the real values and
// meanings; emulator.h says how it is carried out.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <tuple>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __restrict__ __restrict
#define __shared__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)

#define CUDART_VERSION 12040

struct uint3 {
    unsigned x = 0, y = 0, z = 0;
};
struct dim3 {
    unsigned x = 1, y = 1, z = 1;
    dim3() = default;
    dim3(unsigned x_size, unsigned y_size = 1, unsigned z_size = 1) : x(x_size), y(y_size), z(z_size) {}
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

// Of the emulated thread that runs at the moment.
extern thread_local uint3 threadIdx;
extern thread_local uint3 blockIdx;
extern thread_local dim3 blockDim;
extern thread_local dim3 gridDim;

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorMisalignedAddress = 716,
    cudaErrorLaunchFailure = 719,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901,
    cudaErrorStreamCaptureUnmatched = 903,
};
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();

struct cudaDeviceProp {
    char name[256];
    struct {
        char bytes[16];
    } uuid;
    std::size_t totalGlobalMem;
    std::size_t sharedMemPerBlockOptin;
    int major, minor;
    int multiProcessorCount;
    int l2CacheSize;
    int maxThreadsPerMultiProcessor;
    int integrated;
};
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total);

cudaError_t cudaMalloc(void** memory, std::size_t bytes);
cudaError_t cudaFree(void* memory);
cudaError_t cudaMallocHost(void** memory, std::size_t bytes);
cudaError_t cudaFreeHost(void* memory);

using cudaStream_t = struct EmulatedStream*;
using cudaEvent_t = struct EmulatedEvent*;
using cudaGraph_t = struct EmulatedGraph*;
using cudaGraphExec_t = struct EmulatedGraph*;

enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3 };
constexpr unsigned cudaStreamNonBlocking = 1;
constexpr unsigned cudaEventDefault = 0;
constexpr unsigned cudaEventDisableTiming = 2;
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream);

enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal,
    cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone = 0,
    cudaStreamCaptureStatusActive = 1,
    cudaStreamCaptureStatusInvalidated = 2
};
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);

struct cudaFuncAttributes {
    int ptxVersion;
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };

namespace headscope::cuda_emulation {

struct LaunchShape {
    dim3 grid;
    dim3 block;
    std::size_t shared_bytes = 0;
    bool dependent = false;  // may be launched before the kernel in front is done, for which it has to wait
};
cudaError_t enqueue_launch(cudaStream_t stream, const LaunchShape& shape, const void* kernel,
                           std::function<void()> body);
cudaError_t allow_shared_bytes(const void* kernel, int bytes);
// HEADSCOPE_EMULATION_PTX, or else the device's architecture.
int compiled_architecture();

void synchronize_threads();
void wait_for_previous();

// What one thread brings to a call that the whole warp makes together.
using WarpWords = std::array<std::uint32_t, 12>;
// What each of the 32 threads brings to the same call, until its next one.
const WarpWords* gather(const std::uint32_t* words, unsigned count);

// Ends the launch with an error, since a real device would do something else. Does not return.
void complain(const std::string& why);

template <class T>
T exchange_as(unsigned mask, T value, unsigned source) {
    static_assert(sizeof(T) <= 2 * sizeof(std::uint32_t));
    if (mask != 0xFFFFFFFFU || source >= 32) {
        complain("a shuffle takes a whole warp, with the mask that says so");
    }
    std::uint32_t words[2] = {};
    std::memcpy(words, &value, sizeof(T));
    std::memcpy(&value, gather(words, 2)[source].data(), sizeof(T));
    return value;
}

inline unsigned lane() {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}

}  // namespace headscope::cuda_emulation

template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute /*attribute*/, int value) {
    return headscope::cuda_emulation::allow_shared_bytes(reinterpret_cast<const void*>(kernel), value);
}

template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel* /*kernel*/) {
    attributes->ptxVersion = headscope::cuda_emulation::compiled_architecture();
    return cudaSuccess;
}

enum cudaLaunchAttributeID { cudaLaunchAttributeProgrammaticStreamSerialization = 6 };
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    union {
        int programmaticStreamSerializationAllowed;
    } val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim;
    dim3 blockDim;
    std::size_t dynamicSmemBytes = 0;
    cudaStream_t stream = nullptr;
    cudaLaunchAttribute* attrs = nullptr;
    unsigned numAttrs = 0;
};
// The arguments are copied at once, as CUDA does.
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
    auto values = std::tuple<Parameters...>(std::forward<Arguments>(arguments)...);
    const bool dependent = config->numAttrs == 1 &&
                           config->attrs->id == cudaLaunchAttributeProgrammaticStreamSerialization &&
                           config->attrs->val.programmaticStreamSerializationAllowed == 1;
    return headscope::cuda_emulation::enqueue_launch(
        config->stream, {config->gridDim, config->blockDim, config->dynamicSmemBytes, dependent},
        reinterpret_cast<const void*>(kernel), [kernel, values] { std::apply(kernel, values); });
}

inline void cudaGridDependencySynchronize() {
    headscope::cuda_emulation::wait_for_previous();
}
inline void __syncthreads() {
    headscope::cuda_emulation::synchronize_threads();
}
inline void __syncwarp() {
    headscope::cuda_emulation::gather(nullptr, 0);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask) {
    using namespace headscope::cuda_emulation;
    return exchange_as(mask, value, lane() ^ static_cast<unsigned>(lane_mask));
}
template <class T>
T __shfl_sync(unsigned mask, T value, int source) {
    return headscope::cuda_emulation::exchange_as(mask, value, static_cast<unsigned>(source) % 32);
}
inline unsigned __ballot_sync(unsigned mask, bool vote) {
    using namespace headscope::cuda_emulation;
    if (mask != 0xFFFFFFFFU) {
        complain("a ballot takes a whole warp, with the mask that says so");
    }
    const std::uint32_t own = vote ? 1 : 0;
    const WarpWords* votes = gather(&own, 1);
    unsigned bits = 0;
    for (unsigned source = 0; source < 32; ++source) {
        bits |= votes[source][0] << source;
    }
    return bits;
}
inline int __popc(unsigned bits) {
    return std::popcount(bits);
}
inline float __fmaf_rn(float a, float b, float c) {
    return std::fma(a, b, c);
}
using std::erf;
using std::exp;
using std::fabs;
using std::isfinite;
using std::isnan;
using std::log;
using std::sqrt;
