// Failures of a device, and their messages.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "backend/ops/elementwise.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/errors.h"
#include "emulator.h"
#include "memory.h"
#include "support/check.h"
#include "tests/house/environment.h"
#include "tests/house/open_options.h"

using namespace headscope;
using namespace headscope::cuda;
using Catch::Matchers::Contains;

namespace {

__global__ void some_threads_miss_the_barrier() {
    if (threadIdx.x % 2 == 0) {
        __syncthreads();
    }
}

__global__ void nothing() {}

std::int64_t free_bytes() {
    std::size_t bytes = 0;
    std::size_t total = 0;
    REQUIRE(cudaMemGetInfo(&bytes, &total) == cudaSuccess);
    return static_cast<std::int64_t>(bytes);
}

std::string message_of(const std::function<void()>& body) {
    try {
        body();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("running out of memory names size, free memory and advice, and work continues", "[failures]") {
    CudaBackend backend(0, {});
    const std::string message = message_of([&] { backend.empty({std::int64_t{1} << 40}, DType::F32); });
    CHECK_THAT(message, Contains("out of memory on cuda:0"));
    CHECK_THAT(message, Contains("asked for 4194304.0 MiB"));
    CHECK_THAT(message, Contains("micro_batch_tokens"));
    const Tensor small = backend.empty({4}, DType::F32);
    backend.run(Fill{.out = small, .value = 2.0F});
    CHECK(to_host<float>(backend, small) == std::vector<float>(4, 2.0F));
}

TEST_CASE("free memory in other blocks is returned to CUDA and used again", "[failures]") {
    CudaBackend backend(0, {});
    const std::int64_t most = free_bytes() * 2 / 3;
    backend.empty({most}, DType::I8);
    // The first block is too small, and leaves no room for a second.
    CHECK_NOTHROW(backend.empty({most + (1 << 20)}, DType::I8));
}

TEST_CASE("the last memory is left to CUDA itself", "[failures]") {
    CudaBackend backend(0, {});
    const std::int64_t all = free_bytes();
    constexpr std::int64_t kTooMuch = std::int64_t{100} << 20U;  // of 4 GiB 256 MiB are reserved
    CHECK_THROWS_AS(backend.empty({all - kTooMuch}, DType::I8), OutOfMemory);
    CHECK_NOTHROW(backend.empty({all - 3 * kTooMuch}, DType::I8));
}

TEST_CASE("host memory held by file pages is requested and obtained", "[failures]") {
    const Environment most_of_it("HEADSCOPE_EMULATION_PAGES", std::to_string(std::uint64_t{3900} << 20U));
    CudaBackend backend(0, {});
    constexpr std::int64_t kGiB = std::int64_t{1} << 30;
    CHECK_NOTHROW(backend.empty({3 * kGiB}, DType::I8));
    CHECK_THROWS_AS(backend.empty({5 * kGiB}, DType::I8), OutOfMemory);
}

TEST_CASE("ops that cannot be recorded as a graph run one by one, with one warning", "[failures]") {
    cuda_emulation::GraphFailures& failures = cuda_emulation::graph_failures();
    for (cudaError_t* step : {&failures.begin, &failures.end, &failures.instantiate}) {
        const Warnings warnings;
        CudaBackend backend(0, {.diagnostics = warnings.diagnostics()});
        const Tensor x = backend.empty({8}, DType::F32);
        backend.run(Fill{.out = x, .value = 0.0F});
        int calls = 0;
        const auto run = [&](const char* name) {
            backend.replay(name, [&] {
                ++calls;
                backend.run(AddScaled{.a = x, .out = x, .alpha = 2.0F});
                backend.run(Fill{.out = x, .value = static_cast<float>(calls)});
            });
        };
        run("kept");
        run("kept");
        CHECK(calls == 2);
        *step = cudaErrorStreamCaptureInvalidated;
        for (int i = 0; i < 800; ++i) {
            run("refused");
        }
        *step = cudaSuccess;
        CHECK(calls - 802 == (step == &failures.begin ? 0 : 3));  // failed attempts, each after a longer pause
        CHECK(to_host<float>(backend, x)[0] == static_cast<float>(calls));
        const std::string said = warnings.text();
        CHECK_THAT(said, Contains("cuda:0 (CUDA emulated on the CPU): ops that cannot be recorded"));
        CHECK_THAT(said, Contains("cudaErrorStreamCaptureInvalidated") && Contains("HEADSCOPE_CUDA_GRAPHS=0"));
        CHECK(std::count(said.begin(), said.end(), '\n') == 1);
        const int before = calls;
        run("kept");
        CHECK(calls == before);  // the recording is still launched
        CHECK(to_host<float>(backend, x)[0] == 2.0F);
    }
}

TEST_CASE("a graph that cannot be launched runs op by op, and is recorded again after a pause", "[failures]") {
    cudaError_t& refusal = cuda_emulation::graph_failures().launch;
    for (const cudaError_t error : {cudaErrorInvalidValue, cudaErrorMemoryAllocation}) {
        for (const int launched : {0, 3}) {
            INFO(error << " after " << launched << " launches");
            const Warnings warnings;
            CudaBackend backend(0, {.diagnostics = warnings.diagnostics()});
            const Tensor one = backend.empty({8}, DType::F32);
            const Tensor sum = backend.empty({8}, DType::F32);
            backend.run(Fill{.out = one, .value = 1.0F});
            backend.run(Fill{.out = sum, .value = 0.0F});
            int runs = 0;
            int calls = 0;
            const auto run = [&](int times) {
                for (int i = 0; i < times; ++i, ++runs) {
                    backend.replay("sum", [&] {
                        ++calls;
                        backend.run(AddScaled{.a = sum, .b = one, .out = sum});
                    });
                }
            };
            run(1 + launched);
            {
                refusal = error;
                run(300);
                refusal = cudaSuccess;
                const std::string said = warnings.text();
                CHECK(std::count(said.begin(), said.end(), '\n') == (error == cudaErrorInvalidValue ? 1 : 0));
                CHECK((said.empty() || said.find("cudaErrorInvalidValue") != std::string::npos));
            }
            run(600);
            CHECK(to_host<float>(backend, sum)[0] == static_cast<float>(runs));  // each of them once
            const int before = calls;
            run(3);
            CHECK(calls == before);
        }
    }
}

TEST_CASE("a graph's memory can come from freed memory of ops", "[failures]") {
    CudaBackend backend(0, {});
    const std::int64_t large = free_bytes() * 2 / 3;
    const Tensor x = backend.empty({8}, DType::F32);
    int calls = 0;
    const auto run = [&] {
        backend.replay("large", [&] {
            ++calls;
            const Tensor activations = backend.empty({large}, DType::I8);
            backend.run(Fill{.out = x, .value = static_cast<float>(calls)});
        });
    };
    for (int i = 0; i < 4; ++i) {
        run();
    }
    CHECK(calls == 3);  // twice the second time: a failed recording, and again
    CHECK(to_host<float>(backend, x)[0] == 3.0F);
}

TEST_CASE("without memory for a graph the ops run one by one", "[failures]") {
    CudaBackend backend(0, {});
    constexpr std::int64_t kSome = std::int64_t{200} << 20U;
    std::int64_t large = free_bytes() / 2;
    // The ops' memory is in a block that is not freed, because of what is kept there.
    backend.empty({large + 2 * kSome}, DType::I8);
    const Tensor kept = backend.empty({kSome}, DType::I8);
    const Tensor x = backend.empty({8}, DType::F32);
    const std::int64_t before = free_bytes();
    int calls = 0;
    const auto run = [&] {
        backend.replay("large", [&] {
            ++calls;
            const Tensor some = backend.empty({kSome}, DType::I8);
            const Tensor activations = backend.empty({large}, DType::I8);
            backend.run(Fill{.out = x, .value = static_cast<float>(calls)});
        });
    };
    for (int i = 0; i < 4; ++i) {
        run();
    }
    CHECK(calls == 6);  // three times the second time: two failed recordings
    CHECK(to_host<float>(backend, x)[0] == 6.0F);
    CHECK(free_bytes() == before);  // the attempts leave no memory in use

    large /= 4;  // as if something else had freed memory
    for (int i = 0; i < 400; ++i) {
        run();
    }
    CHECK(calls < 300);  // after a while it is launched as a graph
}

TEST_CASE("a backend that fails to open leaks no handle", "[failures]") {
    cuda_emulation::BlasHandles& handles = cuda_emulation::blas_handles();
    const int before = handles.live;  // of backends that other tests share
    for (bool* refused : {&handles.refuse_workspace, &handles.refuse_lt}) {
        *refused = true;
        CHECK_THAT(message_of([] { CudaBackend backend(0, {}); }), Contains("cuBLAS could not"));
        *refused = false;
        CHECK(handles.live == before);
    }
    {
        const CudaBackend backend(0, {});
        CHECK(handles.live == before + 2);
    }
    CHECK(handles.live == before);
}

TEST_CASE("a launch that the device rejects names the op", "[failures]") {
    Stream stream(0, false);
    const std::string message = message_of([&] { stream.launch("this_op", nothing, {dim3(1), 4096, 0}); });
    CHECK_THAT(message, Contains("could not enqueue this_op"));
    CHECK_THAT(message, Contains("cudaErrorInvalidConfiguration"));
    const std::string shared = message_of([&] { stream.launch("that_op", nothing, {dim3(1), 32, 10 << 20}); });
    CHECK_THAT(shared, Contains("that_op"));
    CHECK_NOTHROW(stream.launch("another_op", nothing, {dim3(1), 32, 0}));  // such an error passes
    CHECK_NOTHROW(stream.synchronize());
}

TEST_CASE("errors that lose the device differ from those that pass", "[failures]") {
    CHECK(is_sticky(cudaErrorIllegalAddress));
    CHECK(is_sticky(cudaErrorLaunchFailure));
    CHECK_FALSE(is_sticky(cudaErrorMemoryAllocation));
    CHECK_FALSE(is_sticky(cudaErrorInvalidConfiguration));
    CHECK_FALSE(is_sticky(static_cast<cudaError_t>(701)));  // too many resources for a launch
    // cudaErrorContained, cudaErrorTensorMemoryLeak and cudaErrorExternalDevice, which CUDA 12.0 does not name, and
    // cudaErrorMpsClientTerminated.
    for (const int error : {226, 721, 810, 911}) {
        INFO(error);
        CHECK(is_sticky(static_cast<cudaError_t>(error)));
    }
}

// Hidden, since a lost emulated device does not come back: CMake runs each of these in a separate process.
TEST_CASE("after a kernel's fault every call reports the lost device, and nothing hangs", "[.][lost]") {
    CudaBackend backend(0, {});
    Stream stream(0, false);
    stream.launch("faulty", some_threads_miss_the_barrier, {dim3(1), 64, 0});
    const std::string message = message_of([&] { stream.synchronize(); });
    CHECK_THAT(message, Contains("the CUDA device was lost"));
    CHECK_THAT(message, Contains("the last op enqueued was faulty"));
    CHECK_THAT(message, Contains("HEADSCOPE_CUDA_CHECK=1"));
    CHECK(message_of([&] { stream.synchronize(); }) == message);
    CHECK(message_of([&] { stream.launch("later", nothing, {dim3(1), 32, 0}); }) == message);
    CHECK_THROWS_AS(backend.synchronize(), Error);
}

// Hidden for the same reason: the device does not come back.
TEST_CASE("a device lost while a graph is recorded is reported, and nothing runs op by op", "[.][lost_recording]") {
    CudaBackend backend(0, {});
    const Tensor x = backend.empty({8}, DType::F32);
    int calls = 0;
    const auto run = [&] {
        backend.replay("faulty", [&] {
            if (++calls == 2) {
                // As any call reports from then on.
                cuda_emulation::fault(cudaErrorIllegalAddress, "by intent");
                cuda_emulation::graph_failures().instantiate = cudaErrorIllegalAddress;
            }
        });
    };
    run();
    CHECK_THAT(message_of(run), Contains("the CUDA device was lost"));
    CHECK(calls == 2);
}

// Hidden for the same reason: the device does not come back.
TEST_CASE("with a check after each op the fault names its op", "[.][lost_checked]") {
    Stream stream(0, true);
    const std::string message = message_of([&] {
        stream.launch("faulty", some_threads_miss_the_barrier, {dim3(1), 64, 0});
    });
    CHECK_THAT(message, Contains("run faulty"));
    CHECK_THAT(message, Contains("the CUDA device was lost"));
}

TEST_CASE("the backend's settings are switches", "[settings]") {
    const auto with = [](const char* name, const char* value) {
        OpenOptions options;
        options.settings.set(name, value);
        return CudaOptions::from(options);
    };
    CHECK(CudaOptions::from({}).graphs);
    CHECK_FALSE(with("HEADSCOPE_CUDA_GRAPHS", "0").graphs);
    CHECK(with("HEADSCOPE_CUDA_CHECK", "1").check_each_op);
    CHECK_FALSE(with("HEADSCOPE_CUDA_CHECK", "1").graphs);
    CHECK_THROWS_WITH(with("HEADSCOPE_CUDA_GRAPHS", "off"), "HEADSCOPE_CUDA_GRAPHS is \"off\"; expected 1 or 0");
}
