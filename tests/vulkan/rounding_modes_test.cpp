// A driver that rounds several widths in one way is asked for all of them, as Vulkan has it
// (VUID-RuntimeSpirv-roundingModeIndependence-06291 and -06292).
#include "backends/vulkan/rounding_modes.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "backends/vulkan/reflect.h"
#include "environment.h"
#include "fake_loader.h"
#include "streamed.h"

using namespace headscope;
using namespace headscope::vulkan;
using namespace headscope::vulkan_tests;

namespace {

using Widths = std::vector<std::uint32_t>;

VkPhysicalDeviceFloatControlsProperties floats(VkShaderFloatControlsIndependence rounding, bool in_64 = true) {
    VkPhysicalDeviceFloatControlsProperties found{};
    found.roundingModeIndependence = rounding;
    found.shaderRoundingModeRTEFloat16 = VK_TRUE;
    found.shaderRoundingModeRTEFloat32 = VK_TRUE;
    found.shaderRoundingModeRTEFloat64 = in_64 ? VK_TRUE : VK_FALSE;
    return found;
}

// The widths that the shaders of a product by matrices and of another kernel round to nearest.
std::vector<std::string> asked_for(VkShaderFloatControlsIndependence rounding) {
    FakeMatrices matrices;
    matrices.rounding = rounding;
    const FakeLoader fake({.devices = 2, .opens = true, .matrices = &matrices});
    {
        Streamed made(0);
        made.pipelines.get(Kernel::MatmulCooperative, {.local_size = 128});
        (void)made.pipelines.cache_use();  // waits: shaders are made by threads
        made.pipelines.get(Kernel::MatmulTiled, {.local_size = 128});
    }
    return fake->rounded;
}

}  // namespace

TEST_CASE("the widths that are rounded as 16 bits are go by the driver's word", "[vulkan][rounding]") {
    CHECK(rounded_alike(floats(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL)).empty());
    CHECK(rounded_alike(floats(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY)) == Widths{64});
    CHECK(rounded_alike(floats(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE)) == Widths{32, 64});
    // What cannot be asked for must not be.
    CHECK(rounded_alike(floats(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY, false)).empty());
    CHECK(rounded_alike(floats(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE, false)) == Widths{32});
}

TEST_CASE("a module that asks for rounding in 16 bits asks for the others right behind it", "[vulkan][rounding]") {
    const KernelModule matrices = module_of(Kernel::MatmulCooperative);
    for (const auto& spirv : {matrices.spirv, matrices.spirv_16}) {
        const std::vector<std::uint32_t> same(spirv.begin(), spirv.end());
        CHECK(with_rounding(spirv, {}) == same);
        const std::vector<std::uint32_t> more = with_rounding(spirv, Widths{32, 64});
        CHECK(more.size() == same.size() + 8);  // two instructions of four words
        CHECK(bindings_of(more) == bindings_of(same));
    }
    const KernelModule plain = module_of(Kernel::MatmulTiled);
    CHECK(with_rounding(plain.spirv, Widths{32, 64}) ==
          std::vector<std::uint32_t>(plain.spirv.begin(), plain.spirv.end()));
}

TEST_CASE("what a driver is given to compile rounds in the widths that belong together", "[vulkan][rounding]") {
    using Asked = std::vector<std::string>;
    CHECK(asked_for(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL) == Asked{"16", ""});
    CHECK(asked_for(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY) == Asked{"16 64", ""});
    CHECK(asked_for(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE) == Asked{"16 32 64", ""});
}
