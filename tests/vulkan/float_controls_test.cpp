// Requested floating-point behaviour: NaN and infinities are preserved, and widths that a driver rounds alike are
// requested together (VUID-RuntimeSpirv-roundingModeIndependence-06291 and -06292).
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

// The requests of a matrix product's shader and of another one's.
std::vector<std::string> asked_for(VkShaderFloatControlsIndependence rounding, VkBool32 keeps_specials) {
    const FakeMatrices matrices;
    const FakeLoader fake(
        {.devices = 2, .rounding = rounding, .keeps_specials = keeps_specials, .opens = true, .matrices = &matrices});
    {
        Streamed made(0);
        made.pipelines.get(Kernel::MatmulCooperative, {.local_size = 128});
        (void)made.pipelines.cache_use();  // waits: shaders are made on threads
        made.pipelines.get(Kernel::MatmulTiled, {.local_size = 128});
    }
    return fake->modes;
}

}  // namespace

TEST_CASE("which widths round like 16 bits depends on the driver", "[vulkan][floats]") {
    CHECK(alike(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL).empty());
    CHECK(alike(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY) == Widths{64});
    CHECK(alike(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE) == Widths{32, 64});
    // Unsupported requests must not be made.
    CHECK(alike(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY, false).empty());
    CHECK(alike(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE, false) == Widths{32});
}

TEST_CASE("a module is otherwise unchanged", "[vulkan][floats]") {
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

TEST_CASE("a compiled module requests what the driver has", "[vulkan][floats]") {
    using Asked = std::vector<std::string>;
    CHECK(asked_for(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL, VK_FALSE) == Asked{"4462:16", ""});
    CHECK(asked_for(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY, VK_FALSE) == Asked{"4462:16 4462:64", ""});
    CHECK(asked_for(VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE, VK_TRUE) ==
          Asked{"4461:32 4462:16 4462:32 4462:64", "4461:32"});
}
