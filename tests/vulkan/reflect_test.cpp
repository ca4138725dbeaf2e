#include <catch2/catch.hpp>

#include "backends/vulkan/reflect.h"
#include "kernels.h"
#include "support/check.h"

using namespace headscope;
using namespace headscope::vulkan;

TEST_CASE("bindings and who writes them are read from the shader", "[vulkan][reflect]") {
    CHECK(writable_bindings(module_of(Kernel::AddScaled).spirv) == std::vector<bool>{false, false, true});
    CHECK(writable_bindings(module_of(Kernel::Adam).spirv) == std::vector<bool>{true, false, true, true, false, false});
    CHECK(writable_bindings(module_of(Kernel::Adam).spirv_16) ==
          std::vector<bool>{true, false, true, true, false, true});
    const KernelModule softmax = module_of(Kernel::MaskedSoftmax);
    CHECK(writable_bindings(softmax.spirv) == std::vector<bool>{false, false, false, true});
    CHECK(writable_bindings(softmax.spirv_shared) == std::vector<bool>{false, false, false, true});
    // Bindings that are seen as two types count once.
    CHECK(writable_bindings(module_of(Kernel::AttendBackwardQueries).spirv) ==
          std::vector<bool>{false, false, false, false, false, true});
    // Five words of header and half of the first instruction.
    CHECK_THROWS_AS(writable_bindings(softmax.spirv.first(6)), CheckFailure);
}
