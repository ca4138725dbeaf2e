// What is asked of a driver's numbers: that NaN and infinities count, and that widths which it rounds in one way are
// asked for together (VUID-RuntimeSpirv-roundingModeIndependence-06291 and -06292).
#include "backends/vulkan/device/float_controls.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "backends/vulkan/device/reflect.h"
#include "environment.h"
#include "fake_loader.h"
#include "streamed.h"

using namespace headscope;
using namespace headscope::vulkan;
using namespace headscope::vulkan_tests;

namespace {

using Widths = std::vector<std::uint32_t>;

Widths alike(VkShaderFloatControlsIndependence rounding, bool in_64 = true) {
    VkPhysicalDeviceFloatControlsProperties found{};
    found.roundingModeIndependence = rounding;
    found.shaderRoundingModeRTEFloat16 = VK_TRUE;
    found.shaderRoundingModeRTEFloat32 = VK_TRUE;
    found.shaderRoundingModeRTEFloat64 = in_64 ? VK_TRUE : VK_FALSE;
    return float_controls_of(found).rounded_alike;
}

// What the shaders of a product by matrices and of another kernel ask such a driver for.
std::vector<std::string> asked_for(VkShaderFloatControlsIndependence rounding, VkBool32 keeps_specials) {
    const FakeMatrices matrices;
    const FakeLoader fake(
        {.devices = 2, .rounding = rounding, .keeps_specials = keeps_specials, .opens = true, .matrices = &matrices});
    {
        Streamed made(0);
        made.pipelines.get(Kernel::MatmulCooperative, {.local_size = 128});
        (void)made.pipelines.cache_use();  // waits: shaders are made by threads
        made.pipelines.get(Kernel::MatmulTiled, {.local_size = 128});
    }
    return fake->modes;
}

}  // namespace

TEST_CASE("the widths that are rounded as 16 bits are go by the driver's word", "[vulkan][floats]") {
    CHECK(alike(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL).empty());
    CHECK(alike(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY) == Widths{64});
    CHECK(alike(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE) == Widths{32, 64});
    // What cannot be asked for must not be.
    CHECK(alike(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY, false).empty());
    CHECK(alike(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE, false) == Widths{32});
}

TEST_CASE("a module is otherwise as it was", "[vulkan][floats]") {
    const FloatControls all{.keeps_specials = true, .rounded_alike = {32, 64}};
    for (const Kernel kernel : {Kernel::MatmulCooperative, Kernel::MaskedSoftmax}) {
        const bool rounds = kernel == Kernel::MatmulCooperative;
        for (const auto& spirv : {module_of(kernel).spirv, module_of(kernel).spirv_16}) {
            const std::vector<std::uint32_t> same(spirv.begin(), spirv.end());
            CHECK(with_float_controls(spirv, {}) == same);
            const std::vector<std::uint32_t> more = with_float_controls(spirv, all);
            // A capability of two words, and modes of four.
            CHECK(more.size() == same.size() + 2 + (rounds ? 12 : 4));
            CHECK(bindings_of(more) == bindings_of(same));
        }
    }
}

TEST_CASE("what a driver is given to compile asks for what it has", "[vulkan][floats]") {
    using Asked = std::vector<std::string>;
    CHECK(asked_for(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL, VK_FALSE) == Asked{"4462:16", ""});
    CHECK(asked_for(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY, VK_FALSE) == Asked{"4462:16 4462:64", ""});
    CHECK(asked_for(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE, VK_TRUE) ==
          Asked{"4461:32 4462:16 4462:32 4462:64", "4461:32"});
}
