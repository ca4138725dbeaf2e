#include <catch2/catch.hpp>

#include "backends/vulkan/reflect.h"
#include "kernels.h"
#include "support/check.h"

using namespace headscope;
using namespace headscope::vulkan;

TEST_CASE("bindings and who writes them are read from the shader", "[vulkan][reflect]") {
    constexpr ShaderBinding kRead{};
    constexpr ShaderBinding kWritten{.writable = true};
    CHECK(bindings_of(module_of(Kernel::AddScaled).spirv) == std::vector{kRead, kRead, kWritten});
    CHECK(bindings_of(module_of(Kernel::Adam).spirv) == std::vector{kWritten, kRead, kWritten, kWritten, kRead});
    const KernelModule softmax = module_of(Kernel::MaskedSoftmax);
    CHECK(bindings_of(softmax.spirv) == std::vector{kRead, kRead, kRead, kWritten});
    CHECK(bindings_of(softmax.spirv_shared) == std::vector{kRead, kRead, kRead, kWritten});
    // Bindings that are seen as two types count once.
    CHECK(bindings_of(module_of(Kernel::AttendBackwardQueries).spirv) ==
          std::vector{kRead, kRead, kRead, kRead, kRead, kWritten});
    // Texels are read alone.
    constexpr ShaderBinding kTexels{.texels = true};
    const KernelModule product = module_of(Kernel::MatmulSubgroup);
    CHECK(bindings_of(product.spirv) == std::vector{kRead, kRead, kWritten, kRead});
    CHECK(bindings_of(product.spirv_texels) == std::vector{kTexels, kTexels, kWritten, kRead});
    CHECK(softmax.spirv_texels.empty());
    // Five words of header and half of the first instruction.
    CHECK_THROWS_AS(bindings_of(softmax.spirv.first(6)), CheckFailure);
}
