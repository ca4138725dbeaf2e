// What the emulated CUDA runtime is made of. Its promises to the tests:
//  - the threads of a block are fibers that switch where threads wait for each other, so that a barrier or a shuffle
//    that not all threads reach is found; HEADSCOPE_EMULATION_ORDER=forward|reverse|shuffled says in which order they
//    run, and a race between threads shows as results that depend on it
//  - shared memory holds garbage before each block, and under the address sanitizer ends where the launch said
//  - asynchronous copies into shared memory arrive when their thread waits for them, and not before
//  - a kernel that may be launched before the one in front is done ends with an error if it does not wait for that
//  - streams are queues that nothing drains but what has to wait, so that memory given back or reused too early shows
//  - a stream that is being captured refuses what a real one refuses
//  - there are 4 devices, each for one thread at a time; HEADSCOPE_EMULATION_ONE_GPU makes them parts of one
//  - fresh device memory holds NaN; a device has HEADSCOPE_EMULATION_MEMORY bytes (4 GiB) and HEADSCOPE_EMULATION_SM
//    (90) as its architecture, and kernels compiled for HEADSCOPE_EMULATION_PTX, or else for that; with
//    HEADSCOPE_EMULATION_PAGES it shares the host's memory, of which so many bytes hold pages of files, given back when
//    asked for and not free
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/ops/elementwise.h"
#include "cublas_v2.h"
#include "cuda_runtime.h"

// Work in order; an event is a flag at the end of a queue.
struct EmulatedGraph {
    std::vector<std::function<cudaError_t()>> work;
};
struct EmulatedEvent {
    EmulatedStream* stream = nullptr;  // where it was recorded last and has not been reached
    std::uint64_t position = 0;        // in that stream's order
    bool timed = true;
    double seconds = 0.0;  // when it was reached
};
struct EmulatedStream {
    std::deque<std::function<cudaError_t()>> queue;
    std::uint64_t done = 0;      // entries that have run
    std::uint64_t enqueued = 0;  // entries ever
    std::unique_ptr<EmulatedGraph> capture;
    bool relaxed = false;  // the capture allows calls that have nothing to do with the stream
    bool capture_broken = false;
};

namespace headscope::cuda_emulation {

// Runs every thread of every block of one launch. Empty, or why the launch cannot go on (a barrier that some threads
// never reach).
std::string run_launch(const LaunchShape& shape, const std::function<void()>& thread);

// Of the last launch that was queued or recorded, and how many there were.
LaunchShape& last_launch();
int& launches();

constexpr std::size_t kMostSharedBytes = 232448 - 1024;  // what an H200 gives one block

// The asynchronous copies of one thread that it has not waited for.
struct DeferredCopies {
    struct Copy {
        void* to;
        const void* from;  // null: zeros
        std::uint64_t group;
    };
    std::vector<Copy> copies;
    std::uint64_t committed = 0;  // groups
};
// Of the thread that runs at the moment.
DeferredCopies& deferred_copies();
// Whether all of it lies in the shared memory of the launch.
bool is_shared(const void* memory, std::size_t bytes);

// Either queued, or recorded where the stream is captured.
cudaError_t enqueue(cudaStream_t stream, std::function<cudaError_t()> work);

// The handles of cuBLAS and cuBLASLt that live, and a call that is to fail.
struct BlasHandles {
    int live = 0;
    bool refuse_workspace = false;
    bool refuse_lt = false;
};
BlasHandles& blas_handles();

// How often cuBLASLt was asked for an algorithm, what it says instead of one, what it says of one it gave, and how many
// of those that it gives at a time cannot be used, the first of them.
struct LtHeuristics {
    int asked = 0;
    cublasStatus_t answer = CUBLAS_STATUS_SUCCESS;
    cublasStatus_t call = CUBLAS_STATUS_SUCCESS;
    int useless = 0;
};
LtHeuristics& lt_heuristics();

// How many products cuBLAS was asked for, and what it says of those of 16-bit operands, after some that it carries out.
struct BlasProducts {
    int asked = 0;
    cublasStatus_t half = CUBLAS_STATUS_SUCCESS;
    int half_before = 0;
};
BlasProducts& blas_products();

// What the steps of making a graph say, and its launches.
struct GraphFailures {
    cudaError_t begin = cudaSuccess;
    cudaError_t end = cudaSuccess;
    cudaError_t instantiate = cudaSuccess;
    cudaError_t launch = cudaSuccess;
};
GraphFailures& graph_failures();

}  // namespace headscope::cuda_emulation
