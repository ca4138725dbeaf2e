// What a SPIR-V module declares, read at compile time: the generated source of each module compares it with its lists
// in shaders/include/params.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace headscope::vulkan {

using Words = std::span<const std::uint32_t>;

// The words after the opcode of the first instruction for which wanted(opcode, those words) holds; empty without one.
template <class Wanted>
constexpr Words find_instruction(Words spirv, Wanted wanted) {
    constexpr std::size_t kHeader = 5;
    for (std::size_t at = kHeader; at < spirv.size(); at += spirv[at] >> 16U) {
        const Words operands = spirv.subspan(at + 1, (spirv[at] >> 16U) - 1);
        if (wanted(spirv[at] & 0xffffU, operands)) {
            return operands;
        }
    }
    return {};
}

// One bit for each number that decorates something: bindings or constant ids, all below 64.
constexpr std::uint64_t decorated(Words spirv, std::uint32_t decoration) {
    constexpr std::uint32_t kOpDecorate = 71;
    std::uint64_t found = 0;
    (void)find_instruction(spirv, [&](std::uint32_t op, Words operands) {
        if (op == kOpDecorate && operands[1] == decoration) {
            found |= std::uint64_t{1} << operands[2];
        }
        return false;
    });
    return found;
}

constexpr std::uint64_t declared_bindings(Words spirv) {
    return decorated(spirv, 33);
}

constexpr std::uint64_t declared_constants(Words spirv) {
    return decorated(spirv, 1);
}

// Of a type: a number, or an array or struct of them.
constexpr std::uint32_t bytes_of(Words spirv, std::uint32_t type) {
    constexpr std::uint32_t kOpTypeArray = 28;
    constexpr std::uint32_t kOpTypeStruct = 30;
    constexpr std::uint32_t kOpConstant = 43;
    constexpr std::uint32_t kOpDecorate = 71;
    constexpr std::uint32_t kOpMemberDecorate = 72;
    constexpr std::uint32_t kArrayStride = 6;
    constexpr std::uint32_t kOffset = 35;
    std::uint32_t kind = 0;
    const Words found = find_instruction(spirv, [&](std::uint32_t op, Words operands) {
        kind = op;
        return op >= 19 && op <= kOpTypeStruct && operands[0] == type;
    });
    if (kind == kOpTypeArray) {
        const auto length = find_instruction(
            spirv, [&](std::uint32_t op, Words operands) { return op == kOpConstant && operands[1] == found[2]; });
        const auto stride = find_instruction(spirv, [&](std::uint32_t op, Words operands) {
            return op == kOpDecorate && operands[0] == type && operands[1] == kArrayStride;
        });
        return length[2] * stride[2];
    }
    if (kind == kOpTypeStruct) {
        const auto last = static_cast<std::uint32_t>(found.size()) - 2;
        const auto offset = find_instruction(spirv, [&](std::uint32_t op, Words operands) {
            return op == kOpMemberDecorate && operands[0] == type && operands[1] == last && operands[2] == kOffset;
        });
        return offset[3] + bytes_of(spirv, found.back());
    }
    return found[1] / 8;  // an integer's or a float's bits
}

constexpr std::uint32_t declared_push_bytes(Words spirv) {
    constexpr std::uint32_t kOpTypePointer = 32;
    constexpr std::uint32_t kPushConstant = 9;
    constexpr std::uint32_t kOpVariable = 59;
    const Words variable = find_instruction(
        spirv, [](std::uint32_t op, Words operands) { return op == kOpVariable && operands[2] == kPushConstant; });
    const Words pointer = find_instruction(
        spirv, [&](std::uint32_t op, Words operands) { return op == kOpTypePointer && operands[0] == variable[0]; });
    return bytes_of(spirv, pointer[2]);
}

}  // namespace headscope::vulkan
