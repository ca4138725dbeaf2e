// Reconvergence of subgroups after a loop is requested if a driver supports that.
#include "backends/vulkan/device/control_flow.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "backend/ops/attention.h"
#include "backends/vulkan/device/reflect.h"
#include "backends/vulkan/device/spirv.h"
#include "environment.h"
#include "fake_loader.h"
#include "streamed.h"

using namespace headscope;
using namespace headscope::vulkan;
using namespace headscope::vulkan_tests;

namespace {

using Ops = std::vector<std::uint32_t>;

Ops ops_of(std::span<const std::uint32_t> spirv) {
    Ops ops;
    for_each_instruction(spirv, [&](const Instruction& instruction) { ops.push_back(instruction.op); });
    return ops;
}

std::uint32_t entry_point(std::span<const std::uint32_t> spirv) {
    std::uint32_t found = 0;
    for_each_instruction(spirv, [&](const Instruction& instruction) {
        found = instruction.op == kOpEntryPoint ? instruction.operands[1] : found;
    });
    return found;
}

// The operands of all modes without operands of their own.
std::vector<std::uint32_t> modes_of(std::span<const std::uint32_t> spirv) {
    std::vector<std::uint32_t> found;
    for_each_instruction(spirv, [&](const Instruction& instruction) {
        if (instruction.op == kOpExecutionMode && instruction.operands.size() == 2) {
            found.insert(found.end(), instruction.operands.begin(), instruction.operands.end());
        }
    });
    return found;
}

// The requests of a kernel with subgroups and of one without.
std::vector<bool> asked_for(FakeLoader& fake) {
    {
        Streamed made(0);
        made.pipelines.get(Kernel::MaskedSoftmax, {.local_size = 32});
        made.pipelines.get(Kernel::MatmulTiled, {.local_size = 128});
    }
    return fake->flows;
}

bool enabled(const FakeLoader& fake) {
    return std::count(fake->enabled.begin(), fake->enabled.end(), "VK_KHR_shader_subgroup_uniform_control_flow") == 1;
}

}  // namespace

TEST_CASE("a module that requests uniform control flow is otherwise unchanged", "[vulkan][subgroup]") {
    for (const auto& spirv : {module_of(Kernel::MaskedSoftmax).spirv, module_of(Kernel::MatmulCooperative).spirv_16}) {
        REQUIRE(uses_subgroups(spirv));
        const std::vector<std::uint32_t> more = with_uniform_control_flow(spirv);
        CHECK(more.size() == spirv.size() + 11 + 3);  // a name of 37 letters, and a mode
        CHECK(bindings_of(more) == bindings_of(spirv));
        Ops ops = ops_of(more);
        const auto extension =
            std::find_if(ops.begin(), ops.end(), [](std::uint32_t op) { return op != kOpCapability; });
        CHECK(*extension == kOpExtension);
        ops.erase(extension);
        const auto mode = std::find(ops.begin(), ops.end(), kOpExecutionMode);
        REQUIRE(mode != ops.end());
        ops.erase(mode);
        CHECK(ops == ops_of(spirv));
        CHECK(modes_of(more) == std::vector{entry_point(spirv), 4421U});  // SubgroupUniformControlFlowKHR
    }
}

TEST_CASE("kernels with subgroups request uniform control flow if the driver has it", "[vulkan][subgroup]") {
    FakeLoader fake({.devices = 2, .lists_control_flow = true, .opens = true});
    CHECK(asked_for(fake) == std::vector{true, false});
    CHECK(enabled(fake));
    CHECK(fake->uniform_flow == VK_TRUE);
    CHECK(feature_of(list_vulkan_devices()[0], kControlFlowFeature) == "yes");
}

TEST_CASE("no kernel requests uniform control flow if the driver lacks it or it is disabled", "[vulkan][subgroup]") {
    struct Without {
        bool lists;
        VkBool32 has;
        const char* off;
        const char* says;
    };
    for (const Without& each : {Without{false, VK_TRUE, "", "no"}, Without{true, VK_FALSE, "", "no"},
                                Without{true, VK_TRUE, "uniform_control_flow", "switched off"},
                                Without{true, VK_TRUE, "subgroups", "switched off"}}) {
        INFO(each.lists << each.has << each.off);
        FakeLoader fake({.devices = 2, .lists_control_flow = each.lists, .control_flow = each.has, .opens = true});
        const Environment disable("HEADSCOPE_VULKAN_DISABLE", std::string("trials,") + each.off);
        const auto backend = open_vulkan_device(0);
        backend->run(MaskedSoftmax{.scores = backend->empty({1, 1, 4, 40}, DType::F32),
                                   .weights = backend->empty({1, 1, 4, 40}, DType::F32)});
        backend->synchronize();
        CHECK(fake->flows == std::vector{false});
        CHECK_FALSE(enabled(fake));
        CHECK(fake->uniform_flow == VK_FALSE);
        CHECK(feature_of(backend->device(), kControlFlowFeature) == each.says);
    }
}
