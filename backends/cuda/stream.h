// The one in-order stream of a backend, and what crosses between host and device on it.
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
    std::size_t shared_bytes = 0;  // beside what reductions need (reduce.h)
};

// Host memory that the device copies from and to by itself.
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
    // `check_each_op`: waits after every launch, so that a fault names its op.
    Stream(int ordinal, bool check_each_op);
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream();

    cudaStream_t handle() const { return stream_; }
    // Which device CUDA's calls are meant for is a property of the thread, and other backends have other devices.
    void use_device() const { cudaSetDevice(ordinal_); }

    template <class... Parameters, class... Arguments>
    void launch(const char* op, void (*kernel)(Parameters...), const Grid& grid, Arguments&&... arguments) {
        cudaLaunchConfig_t config{};
        config.gridDim = grid.blocks;
        config.blockDim = dim3(grid.threads);
        config.dynamicSmemBytes = grid.shared_bytes;
        config.stream = stream_;
        use_device();
        allow_shared_bytes(op, kernel, grid.shared_bytes);
        enqueued(op, cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
    }

    // What every enqueuing call goes through: Error naming `op` if it failed.
    void enqueued(const char* op, cudaError_t error);
    // Error if the device is lost, which calls that are not CUDA's own do not tell.
    void find_fault(const char* op);
    // Whether what is enqueued is recorded at the moment.
    bool captured() const;

    // `from` may be reused on return; nothing waits unless kStagingBytes are under way.
    void upload(void* to, const std::byte* from, std::size_t bytes);
    // Waits for all that was enqueued.
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

    // Uploads go through these in turn.
    static constexpr std::size_t kStagingBytes = std::size_t{4} << 20U;
    static constexpr std::size_t kStagings = 4;
    struct Staging {
        PinnedMemory memory{kStagingBytes};
        RawEvent copied;
    };

    const int ordinal_;
    const bool check_each_op_;
    cudaStream_t stream_ = nullptr;
    std::array<Staging, kStagings> stagings_;
    std::size_t next_staging_ = 0;
    std::size_t staged_ = 0;  // bytes of the current one that are taken
    std::string last_op_;
    std::string lost_;  // why the device can no longer be used
};

}  // namespace headscope::cuda
