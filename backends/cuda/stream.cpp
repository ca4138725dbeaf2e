#include "backends/cuda/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "backends/cuda/errors.h"
#include "support/check.h"

namespace headscope::cuda {

PinnedMemory::PinnedMemory(std::size_t bytes) {
    void* memory = nullptr;
    require(cudaMallocHost(&memory, bytes), "get pinned host memory");
    data_ = static_cast<std::byte*>(memory);
}

PinnedMemory::~PinnedMemory() {
    cudaFreeHost(data_);
}

RawEvent::RawEvent(unsigned flags) {
    require(cudaEventCreateWithFlags(&event_, flags), "make an event");
}

RawEvent::~RawEvent() {
    cudaEventDestroy(event_);
}

Stream::Stream(int ordinal, bool check_each_op, bool dependent_launch)
    : ordinal_(ordinal), check_each_op_(check_each_op), dependent_launch_(dependent_launch) {
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "make a stream");
}

Stream::~Stream() {
    cudaStreamDestroy(stream_);
}

void Stream::enqueued(const char* op, cudaError_t error) {
    last_op_ = op;
    if (!lost_.empty()) {
        throw Error(lost_);
    }
    if (error == cudaSuccess && check_each_op_) {
        error = cudaStreamSynchronize(stream_);
    }
    if (error != cudaSuccess) {
        fail(fmt::format("{} {}", check_each_op_ ? "run" : "enqueue", op), error);
    }
}

void Stream::find_fault(const char* op) {
    if (!lost_.empty()) {
        throw Error(lost_);
    }
    last_op_ = op;
    if (const cudaError_t error = cudaStreamSynchronize(stream_); is_sticky(error)) {
        fail(fmt::format("enqueue {}", op), error);
    }
    cudaGetLastError();
}

bool Stream::captured() const {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    require(cudaStreamIsCapturing(stream_, &status), "tell whether a graph is recorded");
    return status != cudaStreamCaptureStatusNone;
}

void Stream::fail(const std::string& what, cudaError_t error) {
    if (!is_sticky(error)) {
        raise(error, fmt::format("CUDA could not {} ({})", what, text_of(error)));
    }
    cudaGetLastError();
    const char* advice = check_each_op_
                             ? "restart from the last checkpoint; headscope devices shows whether the card responds"
                             : "run again with HEADSCOPE_CUDA_CHECK=1, which names the op that failed";
    lost_ = fmt::format("the CUDA device was lost when asked to {} (the last op enqueued was {}; {}): {}", what,
                        last_op_, text_of(error), advice);
    throw Error(lost_);
}

void Stream::upload(void* to, const std::byte* from, std::size_t bytes) {
    use_device();
    auto* target = static_cast<std::byte*>(to);
    while (bytes > 0) {
        if (staged_ == kStagingBytes) {
            enqueued("upload", cudaEventRecord(stagings_[next_staging_].copied.handle(), stream_));
            next_staging_ = (next_staging_ + 1) % kStagings;
            staged_ = 0;
            // Its previous contents must have reached the device.
            enqueued("upload", cudaEventSynchronize(stagings_[next_staging_].copied.handle()));
        }
        std::byte* staging = stagings_[next_staging_].memory.data() + staged_;
        const std::size_t part = std::min(bytes, kStagingBytes - staged_);
        std::memcpy(staging, from, part);
        enqueued("upload", cudaMemcpyAsync(target, staging, part, cudaMemcpyHostToDevice, stream_));
        staged_ += part;
        target += part;
        from += part;
        bytes -= part;
    }
}

void Stream::download(std::byte* to, const void* from, std::size_t bytes) {
    use_device();
    if (bytes > 0) {
        enqueued("download", cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_));
    }
    synchronize();
}

void Stream::synchronize() {
    if (!lost_.empty()) {
        throw Error(lost_);
    }
    use_device();
    if (const cudaError_t error = cudaStreamSynchronize(stream_); error != cudaSuccess) {
        fail("finish what was enqueued", error);
    }
}

}  // namespace headscope::cuda
