// Kernels that are launched before the one in front of them is done, and wait for it.
#include "backends/cuda/dependent_launch.h"

#include <catch2/catch.hpp>

#include "backend/ops/elementwise.h"
#include "backends/cuda/cuda_backend.h"
#include "emulator.h"
#include "tests/house/environment.h"

using namespace headscope;
using namespace headscope::cuda;
using Catch::Matchers::Contains;

namespace {

// Whether a backend opened now launches kernels early.
bool launches_early(const CudaOptions& options = {}) {
    CudaBackend backend(0, options);
    backend.run(Fill{.out = backend.empty({8}, DType::F32), .value = 1.0F});
    backend.synchronize();
    return cuda_emulation::last_launch().dependent;
}

}  // namespace

TEST_CASE("a kernel that is launched early and does not wait is an error", "[dependent_launch]") {
    const auto complaint = [](bool dependent, const std::function<void()>& thread) {
        return cuda_emulation::run_launch({.grid = dim3(2), .block = dim3(64), .dependent = dependent}, thread);
    };
    CHECK_THAT(complaint(true, [] {}), Contains("did not wait"));
    CHECK_THAT(complaint(true,
                         [] {
                             if (threadIdx.x != 33) {
                                 after_previous();
                             }
                         }),
               Contains("did not wait"));
    CHECK(complaint(true, [] { after_previous(); }).empty());
    CHECK(complaint(false, [] {}).empty());
}

TEST_CASE("kernels are launched early on sm_90 and newer, unless that is disabled", "[dependent_launch]") {
    CHECK(launches_early());
    Settings settings;
    settings.set(kDisableKernels, "dependent_launch");
    CHECK_FALSE(launches_early({.disabled = DisabledKernels::from(settings)}));
    const Environment ampere("HEADSCOPE_EMULATION_SM", "80");
    CHECK_FALSE(launches_early());
}
