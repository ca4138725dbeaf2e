#include <catch2/catch.hpp>

#include <cstdint>
#include <span>
#include <string>

#include "backends/vulkan/device/reflect.h"
#include "kernels.h"
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
    CHECK(letters(module_of(Kernel::Adam).spirv) == "wrwwrrrrr");
    CHECK(letters(module_of(Kernel::Adam).spirv_16) == "wrwwrrrrw");
    const KernelModule softmax = module_of(Kernel::MaskedSoftmax);
    CHECK(letters(softmax.spirv) == "rrrw");
    CHECK(letters(softmax.spirv_shared) == "rrrw");
    // Bindings with two types count once.
    CHECK(letters(module_of(Kernel::AttendBackwardQueries).spirv) == "rrrrrw");
    // Five words of header and half of the first instruction.
    CHECK_THROWS_AS(bindings_of(softmax.spirv.first(6)), CheckFailure);
}

TEST_CASE("read-only vec4 and product operands can be texel buffers", "[vulkan][reflect]") {
    CHECK(letters(module_of(Kernel::AddScaled).spirv_texels) == "ttw");
    CHECK(letters(module_of(Kernel::MaskedSoftmax).spirv_texels) == "trrw");
    CHECK(letters(module_of(Kernel::MatmulSubgroup).spirv) == "rrwr");
    CHECK(letters(module_of(Kernel::MatmulSubgroup).spirv_texels) == "ttwr");
    CHECK(module_of(Kernel::CacheAppend).spirv_texels.empty());
}
