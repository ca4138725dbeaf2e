// How params.h lists what a kernel has, for GLSL and C++ alike. X_BINDINGS(B) has B(binding, name) for each tensor, and
// X_CONSTANTS(C) has C(constant_id, name) for each specialisation constant. Shaders use binding_name and constant_name,
// C++ designated initialisers. The build compares each SPIR-V module with its lists (device/declared.h).
#ifndef HEADSCOPE_SHADER_INTERFACE_H
#define HEADSCOPE_SHADER_INTERFACE_H

// The beginning of a block of push constants: the launch may come in parts, and a tensor need not begin its binding.
#define HEADSCOPE_PUSH_HEAD(BINDINGS) \
    uint first_group;                 \
    uint offset[0 BINDINGS(HEADSCOPE_ONE_MORE)];
#define HEADSCOPE_ONE_MORE(index, name) +1

// Set by Pipelines where a module has them; kernels number their own from 2.
#define COMMON_CONSTANTS(C) C(0, local_size) C(1, one_subgroup) C(30, bf16) C(31, converts_halves)
#define NO_CONSTANTS(C)
#define FOURS_CONSTANTS(C) C(2, fours)

#ifdef __cplusplus

#include <array>
#include <cstddef>
#include <cstdint>

namespace headscope {
struct Tensor;
}

namespace headscope::vulkan {

using uint = std::uint32_t;

constexpr std::size_t kFirstConstant = 2;
using Constants = std::array<std::uint32_t, 11>;  // from kFirstConstant; unused ones are 0

// dispatch(.., {.x = x, .y = y}): the compiler wants every operand named; an absent one is an undefined tensor.
#define HEADSCOPE_BINDINGS(LIST)                                                                    \
    struct Bindings {                                                                               \
        LIST(HEADSCOPE_BINDING)                                                                     \
        static constexpr std::size_t kCount = 0 LIST(HEADSCOPE_ONE_MORE);                           \
        static constexpr std::uint64_t kMask = 0 LIST(HEADSCOPE_BIT);                               \
        static_assert(kMask == (1U << kCount) - 1, "bindings count from 0, without a gap or twin"); \
        std::array<const Tensor*, kCount> in_order() const {                                        \
            std::array<const Tensor*, kCount> tensors{};                                            \
            LIST(HEADSCOPE_PUT_BINDING)                                                             \
            return tensors;                                                                         \
        }                                                                                           \
    };                                                                                              \
    HEADSCOPE_PUSH_HEAD(LIST)
#define HEADSCOPE_BINDING(index, name) const Tensor& name;
#define HEADSCOPE_PUT_BINDING(index, name) std::get<index>(tensors) = &name;
#define HEADSCOPE_BIT(index, name) | (std::uint64_t{1} << index##U)

#define HEADSCOPE_CONSTANTS(Name, LIST)      \
    struct Name {                            \
        LIST(HEADSCOPE_CONSTANT)             \
        constexpr Constants values() const { \
            Constants all{};                 \
            LIST(HEADSCOPE_PUT_CONSTANT)     \
            return all;                      \
        }                                    \
    };
#define HEADSCOPE_CONSTANT(id, name) std::uint32_t name;
#define HEADSCOPE_PUT_CONSTANT(id, name) std::get<id - kFirstConstant>(all) = name;

#define HEADSCOPE_COMMON_ID(id, name) constexpr std::uint32_t constant_##name = id;
COMMON_CONSTANTS(HEADSCOPE_COMMON_ID)
constexpr std::uint64_t kCommonConstants = 0 COMMON_CONSTANTS(HEADSCOPE_BIT);

HEADSCOPE_CONSTANTS(FoursConstants, FOURS_CONSTANTS)

}  // namespace headscope::vulkan

#else

#define HEADSCOPE_BINDINGS(LIST) HEADSCOPE_PUSH_HEAD(LIST)
#define HEADSCOPE_CONSTANTS(Name, LIST)

// A shader's first line after params.h.
#define HEADSCOPE_KERNEL(Params, BINDINGS, CONSTANTS) \
    layout(push_constant) uniform Push {              \
        Params p;                                     \
    };                                                \
    BINDINGS(HEADSCOPE_BINDING_ID)                    \
    COMMON_CONSTANTS(HEADSCOPE_CONSTANT_ID)           \
    CONSTANTS(HEADSCOPE_CONSTANT_ID)
#define HEADSCOPE_BINDING_ID(index, name) const int binding_##name = index;
#define HEADSCOPE_CONSTANT_ID(id, name) const int constant_##name = id;

#endif

#endif
