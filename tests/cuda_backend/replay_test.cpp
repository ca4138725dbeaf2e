// Backend::replay on the emulated device: what is recorded and launched, and what cannot be.
#include <catch2/catch.hpp>

#include "backend/ops/elementwise.h"
#include "backends/cuda/cuda_backend.h"
#include "tests/backend/replay_contract.h"

using namespace headscope;
using headscope::cuda::CudaBackend;

TEST_CASE("replays fulfil the contract of Backend::replay", "[replay]") {
    CudaBackend backend(0, cuda::CudaOptions{});
    SECTION("a run that comes again is launched without its body") {
        replay_contract::launches_what_comes_again(backend);
    }
    SECTION("other operands or another name are another run") {
        replay_contract::tells_runs_apart(backend);
    }
    SECTION("a body that does more than enqueue ops cannot be recorded, and says so") {
        replay_contract::refuses_other_than_ops(backend);
    }
}

TEST_CASE("without graphs every run calls its body", "[replay]") {
    CudaBackend backend(0, {.graphs = false});
    const Tensor x = backend.empty({8}, DType::F32);
    int calls = 0;
    for (int i = 0; i < 4; ++i) {
        backend.replay("fill", [&] {
            ++calls;
            backend.run(Fill{.out = x, .value = 1.0F});
        });
    }
    CHECK(calls == 4);
}
