// Streams, events, copies and graphs of the emulated runtime.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "emulator.h"
#include "memory.h"

namespace headscope::cuda_emulation {

namespace {

std::vector<cudaStream_t>& streams() {
    static std::array<std::vector<cudaStream_t>, kDevices> of_devices;
    return of_devices[current_device()];
}

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// False if it waits for another device.
bool do_next(cudaStream_t stream) {
    std::function<cudaError_t()> work = std::move(stream->queue.front());
    stream->queue.pop_front();
    ++stream->done;
    const bool waits = work() == cudaErrorNotReady;
    if (waits) {
        --stream->done;
        stream->queue.push_front(std::move(work));
    }
    return !waits;
}

cudaError_t drain_until(cudaStream_t stream, std::uint64_t position) {
    while (stream->done < position && !stream->queue.empty()) {
        if (!do_next(stream)) {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    }
    return fatal_error();
}

cudaError_t drain(cudaStream_t stream) {
    return drain_until(stream, stream->enqueued);
}

// What may not be called while a stream is captured breaks the capture.
bool refuse_in_capture() {
    bool refused = false;
    for (const cudaStream_t stream : streams()) {
        refused = refused || stream->capture != nullptr;
        stream->capture_broken = stream->capture_broken || stream->capture != nullptr;
    }
    return refused;
}

}  // namespace

GraphFailures& graph_failures() {
    static thread_local GraphFailures failures;
    return failures;
}

bool captures() {
    return std::any_of(streams().begin(), streams().end(),
                       [](const EmulatedStream* stream) { return stream->capture != nullptr; });
}

bool refuse_unsafe_in_capture() {
    const bool relaxed = std::all_of(streams().begin(), streams().end(), [](const EmulatedStream* stream) {
        return stream->capture == nullptr || stream->relaxed;
    });
    return !relaxed && refuse_in_capture();
}

void drain_all() {
    for (const cudaStream_t stream : streams()) {
        drain(stream);
    }
}

cudaError_t enqueue(cudaStream_t stream, std::function<cudaError_t()> work) {
    if (fatal_error() != cudaSuccess) {
        return remember(fatal_error());
    }
    if (stream == nullptr) {
        return remember(cudaErrorInvalidValue);  // the backend has no business on the default stream
    }
    if (stream->capture != nullptr) {
        stream->capture->work.push_back(std::move(work));
        return cudaSuccess;
    }
    constexpr std::size_t kLongest = 4096;
    stream->queue.push_back(std::move(work));
    ++stream->enqueued;
    return stream->queue.size() > kLongest ? remember(drain(stream)) : cudaSuccess;
}

}  // namespace headscope::cuda_emulation

namespace emulation = headscope::cuda_emulation;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
    *stream = new EmulatedStream;
    emulation::streams().push_back(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    emulation::drain(stream);
    auto& all = emulation::streams();
    all.erase(std::remove(all.begin(), all.end(), stream), all.end());
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    if (emulation::refuse_in_capture()) {
        return emulation::remember(cudaErrorStreamCaptureUnsupported);
    }
    return emulation::remember(emulation::drain(stream));
}

// What asks again and again has to wait, too.
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    if (emulation::refuse_in_capture()) {
        return emulation::remember(cudaErrorStreamCaptureUnsupported);
    }
    while (!stream->queue.empty() && emulation::do_next(stream)) {
    }
    return emulation::remember(stream->queue.empty() ? emulation::fatal_error() : cudaErrorNotReady);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/) {
    if (event->stream == nullptr) {
        return cudaSuccess;  // never recorded
    }
    return emulation::enqueue(stream, [other = event->stream, position = event->position] {
        return emulation::drain_until(other, position);
    });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    *event = new EmulatedEvent;
    (*event)->timed = (flags & cudaEventDisableTiming) == 0;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    emulation::drain_all();
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    event->stream = stream;
    const cudaError_t error = emulation::enqueue(stream, [event] {
        event->seconds = emulation::now();
        return cudaSuccess;
    });
    event->position = stream->enqueued;
    return error;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    if (emulation::refuse_in_capture()) {
        return emulation::remember(cudaErrorStreamCaptureUnsupported);
    }
    return event->stream == nullptr ? cudaSuccess
                                    : emulation::remember(emulation::drain_until(event->stream, event->position));
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    if (emulation::refuse_in_capture()) {
        return emulation::remember(cudaErrorStreamCaptureUnsupported);
    }
    const bool reached = event->stream == nullptr || event->stream->done >= event->position;
    return reached ? cudaSuccess : emulation::remember(cudaErrorNotReady);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
    for (const cudaEvent_t event : {start, end}) {
        if (event->stream == nullptr || !event->timed) {
            return emulation::remember(cudaErrorInvalidResourceHandle);
        }
        if (event->stream->done < event->position) {
            return emulation::remember(cudaErrorNotReady);
        }
    }
    *milliseconds = static_cast<float>((end->seconds - start->seconds) * 1000.0);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    const bool to_pageable = kind == cudaMemcpyDeviceToHost && !emulation::is_pinned(to);
    const bool from_pageable = kind == cudaMemcpyHostToDevice && !emulation::is_pinned(from);
    if ((to_pageable || from_pageable) && stream->capture != nullptr) {
        emulation::refuse_in_capture();
        return emulation::remember(cudaErrorStreamCaptureUnsupported);
    }
    if (from_pageable) {  // such a copy is staged before the call returns
        const auto* first = static_cast<const unsigned char*>(from);
        return emulation::enqueue(stream, [to, staged = std::vector<unsigned char>(first, first + bytes)] {
            std::memcpy(to, staged.data(), staged.size());
            return cudaSuccess;
        });
    }
    const cudaError_t error = emulation::enqueue(stream, [=] {
        std::memmove(to, from, bytes);
        return cudaSuccess;
    });
    return error == cudaSuccess && to_pageable ? emulation::remember(emulation::drain(stream)) : error;
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
    return emulation::enqueue(stream, [=] {
        std::memset(memory, value, bytes);
        return cudaSuccess;
    });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    *status = stream->capture == nullptr ? cudaStreamCaptureStatusNone
              : stream->capture_broken   ? cudaStreamCaptureStatusInvalidated
                                         : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    if (stream->capture != nullptr) {
        return emulation::remember(cudaErrorInvalidValue);
    }
    if (emulation::graph_failures().begin != cudaSuccess) {
        return emulation::remember(emulation::graph_failures().begin);
    }
    stream->capture = std::make_unique<EmulatedGraph>();
    stream->capture_broken = false;
    stream->relaxed = mode == cudaStreamCaptureModeRelaxed;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    *graph = nullptr;
    if (stream->capture == nullptr) {
        return emulation::remember(cudaErrorStreamCaptureUnmatched);
    }
    std::unique_ptr<EmulatedGraph> captured = std::move(stream->capture);
    if (emulation::graph_failures().end != cudaSuccess) {
        return emulation::remember(emulation::graph_failures().end);
    }
    if (stream->capture_broken) {
        return emulation::remember(cudaErrorStreamCaptureInvalidated);
    }
    *graph = captured.release();
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long /*flags*/) {
    if (emulation::graph_failures().instantiate != cudaSuccess) {
        return emulation::remember(emulation::graph_failures().instantiate);
    }
    *executable = new EmulatedGraph(*graph);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
    if (emulation::graph_failures().launch != cudaSuccess) {
        return emulation::remember(emulation::graph_failures().launch);
    }
    for (const std::function<cudaError_t()>& work : executable->work) {
        if (const cudaError_t error = emulation::enqueue(stream, work); error != cudaSuccess) {
            return error;
        }
    }
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    delete executable;
    return cudaSuccess;
}
