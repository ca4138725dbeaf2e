// llvmpipe takes its subgroup size from LP_NATIVE_VECTOR_WIDTH, once per process; the test runner sets it together with
// the expected size.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "backends/vulkan/vulkan_backend.h"
#include "environment.h"

TEST_CASE("the subgroup size is the one required from the driver", "[vulkan][subgroup]") {
    const char* wanted = std::getenv("LP_NATIVE_VECTOR_WIDTH");
    if (wanted == nullptr || !headscope::vulkan_tests::usable_device()) {
        return;
    }
    const auto backend = headscope::open_vulkan_device(0);
    if (!backend->device().software) {
        return;
    }
    CHECK(headscope::vulkan_tests::limit_of(backend->device(), "subgroup size") ==
          std::to_string(std::atoi(wanted) / 32));
}
