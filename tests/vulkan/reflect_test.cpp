#include <catch2/catch.hpp>

#include <cstdint>
#include <span>
#include <string>

#include "backends/vulkan/device/declared.h"
#include "backends/vulkan/device/reflect.h"
#include "kernels.h"
#include "shaders/include/params.h"
#include "support/check.h"

using namespace headscope;
using namespace headscope::vulkan;

namespace {

// A letter for each binding: written, read, texels.
std::string letters(std::span<const std::uint32_t> spirv) {
    std::string text;
    for (const BindingKind kind : bindings_of(spirv)) {
        text += kind == BindingKind::Written ? 'w' : kind == BindingKind::Read ? 'r' : 't';
    }
    return text;
}

}  // namespace

TEST_CASE("bindings and their access are read from the shader", "[vulkan][reflect]") {
    CHECK(letters(module_of(Kernel::AddScaled).spirv) == "rrw");
    CHECK(letters(module_of(Kernel::Adam).spirv) == "wrwwrrrrrr");
    CHECK(letters(module_of(Kernel::Adam).spirv_16) == "wrwwrrrrwr");
    const KernelModule softmax = module_of(Kernel::MaskedSoftmax);
    CHECK(letters(softmax.spirv) == "rrrwrr");
    CHECK(letters(softmax.spirv_shared) == "rrrwrr");
    // Bindings with two types count once.
    CHECK(letters(module_of(Kernel::AttendBackwardQueries).spirv) == "rrrrrw");
    // Five words of header and half of the first instruction.
    CHECK_THROWS_AS(bindings_of(softmax.spirv.first(6)), CheckFailure);
}

TEST_CASE("read-only vec4 and product operands can be texel buffers", "[vulkan][reflect]") {
    CHECK(letters(module_of(Kernel::AddScaled).spirv_texels) == "ttw");
    CHECK(letters(module_of(Kernel::MaskedSoftmax).spirv_texels) == "trrwrr");
    CHECK(letters(module_of(Kernel::MatmulSubgroup).spirv) == "rrwr");
    CHECK(letters(module_of(Kernel::MatmulSubgroup).spirv_texels) == "ttwr");
    CHECK(module_of(Kernel::CacheAppend).spirv_texels.empty());
}

TEST_CASE("what the build compares with the lists is read from the shader", "[vulkan][reflect]") {
    const KernelModule module = module_of(Kernel::AddScaled);
    CHECK(declared_bindings(module.spirv) == 0b111);
    CHECK(declared_constants(module.spirv) == 0b11101);
    CHECK(declared_constants(module.spirv_16) == (0b11101 | std::uint64_t{3} << 30U));
    CHECK(declared_bindings(module.spirv_texels) == 0b111);
    // The last member is a number, an array, a struct.
    CHECK(declared_push_bytes(module.spirv) == sizeof(AddScaledParams));
    CHECK(declared_push_bytes(module_of(Kernel::Copy).spirv) == sizeof(CopyParams));
    CHECK(declared_push_bytes(module_of(Kernel::AddLayerNorm).spirv) == sizeof(AddLayerNormParams));
}
