// The one in-order stream of a backend, with its transfers between host and device.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <string>

namespace headscope::cuda {

// A launch's shape: one-dimensional blocks of whole warps.
struct Grid {
    dim3 blocks;
    unsigned threads = 0;
    std::size_t shared_bytes = 0;  // in addition to those of reductions (reduce.h)
};

// Pinned host memory that the device can copy from and to.
class PinnedMemory {
public:
    explicit PinnedMemory(std::size_t bytes);
    PinnedMemory(const PinnedMemory&) = delete;
    PinnedMemory& operator=(const PinnedMemory&) = delete;
    ~PinnedMemory();
    std::byte* data() const { return data_; }

private:
    std::byte* data_ = nullptr;
};

class RawEvent {
public:
    explicit RawEvent(unsigned flags = cudaEventDisableTiming);
    RawEvent(const RawEvent&) = delete;
    RawEvent& operator=(const RawEvent&) = delete;
    ~RawEvent();
    cudaEvent_t handle() const { return event_; }

private:
    cudaEvent_t event_ = nullptr;
};

class Stream {
public:
    // `check_each_op`: wait after every launch, so that a fault names its op. `dependent_launch`: launch kernels before
    // those in front are done, for which they wait (dependent_launch.h).
    Stream(int ordinal, bool check_each_op, bool dependent_launch = false);
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream();

    cudaStream_t handle() const { return stream_; }
    // CUDA's current device belongs to the thread, and other backends use other devices.
    void use_device() const { cudaSetDevice(ordinal_); }

    template <class... Parameters, class... Arguments>
    void launch(const char* op, void (*kernel)(Parameters...), const Grid& grid, Arguments&&... arguments) {
        cudaLaunchConfig_t config{};
        config.gridDim = grid.blocks;
        config.blockDim = dim3(grid.threads);
        config.dynamicSmemBytes = grid.shared_bytes;
        config.stream = stream_;
        cudaLaunchAttribute attribute{};
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
        config.attrs = &attribute;
        config.numAttrs = dependent_launch_ ? 1 : 0;
        use_device();
        allow_shared_bytes(op, kernel, grid.shared_bytes);
        enqueued(op, cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
    }

    // Called for every enqueuing call: Error naming `op` if it failed.
    void enqueued(const char* op, cudaError_t error);
    // Error if the device is lost, which calls of other libraries do not report.
    void find_fault(const char* op);
    // Whether a graph is being recorded.
    bool captured() const;

    // `from` can be reused on return; waits only if kStagingBytes are in flight.
    void upload(void* to, const std::byte* from, std::size_t bytes);
    // Waits for all enqueued work.
    void download(std::byte* to, const void* from, std::size_t bytes);
    void synchronize();

private:
    template <class Kernel>
    void allow_shared_bytes(const char* op, Kernel* kernel, std::size_t bytes) {
        constexpr std::size_t kAlwaysAllowed = 48 * 1024;
        if (bytes > kAlwaysAllowed) {
            enqueued(
                op, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
        }
    }
    [[noreturn]] void fail(const std::string& what, cudaError_t error);

    // Uploads use these buffers in turn.
    static constexpr std::size_t kStagingBytes = std::size_t{4} << 20U;
    static constexpr std::size_t kStagings = 4;
    struct Staging {
        PinnedMemory memory{kStagingBytes};
        RawEvent copied;
    };

    const int ordinal_;
    const bool check_each_op_;
    const bool dependent_launch_;
    cudaStream_t stream_ = nullptr;
    std::array<Staging, kStagings> stagings_;
    std::size_t next_staging_ = 0;
    std::size_t staged_ = 0;  // bytes used of the current one
    std::string last_op_;
    std::string lost_;  // why the device is no longer usable
};

}  // namespace headscope::cuda
