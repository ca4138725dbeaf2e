#include "backends/vulkan/device/reflect.h"

#include <map>
#include <set>

#include "backends/vulkan/device/spirv.h"
#include "support/check.h"

namespace headscope::vulkan {

namespace {

// Numbers from the SPIR-V specification, sections 3.20, 3.31 and 3.42.
constexpr std::uint32_t kOpTypeImage = 25;
constexpr std::uint32_t kOpTypeSampledImage = 27;
constexpr std::uint32_t kOpTypeStruct = 30;
constexpr std::uint32_t kOpTypePointer = 32;
constexpr std::uint32_t kOpVariable = 59;
constexpr std::uint32_t kOpDecorate = 71;
constexpr std::uint32_t kOpMemberDecorate = 72;
constexpr std::uint32_t kNonWritable = 24;
constexpr std::uint32_t kBinding = 33;
constexpr std::uint32_t kDescriptorSet = 34;
constexpr std::uint32_t kGroupNonUniform = 61;
constexpr std::uint32_t kGroupNonUniformQuad = 68;
constexpr std::uint32_t kCooperativeMatrix = 6022;

struct Module {
    std::map<std::uint32_t, std::uint32_t> binding;                // variable -> binding
    std::map<std::uint32_t, std::uint32_t> pointee;                // pointer type -> struct or image type
    std::map<std::uint32_t, std::uint32_t> type;                   // variable -> pointer type
    std::map<std::uint32_t, std::size_t> members;                  // struct type -> count
    std::map<std::uint32_t, std::set<std::uint32_t>> read_only{};  // struct type -> members
    std::set<std::uint32_t> images{};                              // types
    bool subgroups = false;

    std::size_t read_only_members(std::uint32_t block) const {
        const auto found = read_only.find(block);
        return found == read_only.end() ? 0 : found->second.size();
    }
    void read(const Instruction& instruction);
};

void Module::read(const Instruction& instruction) {
    const auto& [op, operands, words] = instruction;
    if (op == kOpCapability) {
        const std::uint32_t capability = operands[0];
        subgroups = subgroups || capability == kCooperativeMatrix ||
                    (capability >= kGroupNonUniform && capability <= kGroupNonUniformQuad);
    } else if (op == kOpDecorate && operands[1] == kBinding) {
        binding[operands[0]] = operands[2];
    } else if (op == kOpDecorate && operands[1] == kDescriptorSet) {
        HEADSCOPE_CHECK(operands[2] == 0, "shaders use descriptor set 0 alone");
    } else if (op == kOpMemberDecorate && operands[2] == kNonWritable) {
        read_only[operands[0]].insert(operands[1]);
    } else if (op == kOpTypeStruct) {
        members[operands[0]] = operands.size() - 1;
    } else if (op == kOpTypeImage || op == kOpTypeSampledImage) {
        images.insert(operands[0]);
    } else if (op == kOpTypePointer) {
        pointee[operands[0]] = operands[2];
    } else if (op == kOpVariable) {
        type[operands[1]] = operands[0];
    }
}

Module read_module(std::span<const std::uint32_t> spirv) {
    Module module;
    for_each_instruction(spirv, [&](const Instruction& instruction) { module.read(instruction); });
    return module;
}

}  // namespace

std::vector<BindingKind> bindings_of(std::span<const std::uint32_t> spirv) {
    const Module module = read_module(spirv);
    std::map<std::uint32_t, BindingKind> found;  // several variables may alias one binding
    for (const auto& [variable, binding] : module.binding) {
        const std::uint32_t block = module.pointee.at(module.type.at(variable));
        BindingKind& kind = found.try_emplace(binding, BindingKind::Read).first->second;
        if (module.images.contains(block)) {
            kind = BindingKind::Texels;
        } else if (module.read_only_members(block) < module.members.at(block)) {
            kind = BindingKind::Written;
        }
    }
    std::vector<BindingKind> kinds;
    for (const auto& [binding, kind] : found) {
        HEADSCOPE_CHECK(binding == kinds.size(), "the shader's bindings have a gap");
        kinds.push_back(kind);
    }
    return kinds;
}

bool uses_subgroups(std::span<const std::uint32_t> spirv) {
    return read_module(spirv).subgroups;
}

}  // namespace headscope::vulkan
