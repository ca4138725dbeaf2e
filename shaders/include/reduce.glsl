// Reductions over a workgroup, always in the same, device-specific order. With HEADSCOPE_SUBGROUPS by subgroup
// operations of any size; else only through shared memory. Every invocation gets the result, and every invocation must
// take part. Workgroups have a power of two of invocations, at most 256, or as many as HEADSCOPE_MOST_LANES says.
#ifndef HEADSCOPE_REDUCE_GLSL
#define HEADSCOPE_REDUCE_GLSL

#ifdef HEADSCOPE_SUBGROUPS
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif

layout(constant_id = constant_one_subgroup) const bool kOneSubgroup = false;

#ifndef HEADSCOPE_MOST_LANES
#define HEADSCOPE_MOST_LANES 256
#endif

// Bits, since a float's bits may change when stored as another type.
shared uint reduce_scratch[HEADSCOPE_MOST_LANES];

#ifdef HEADSCOPE_SUBGROUPS

// The sum (and so on) of value over every invocation: within each subgroup, then over the subgroups in order.
#define HEADSCOPE_REDUCTION(name, type, subgroup_operation, combine, to_bits, from_bits) \
    type name(type value) {                                                              \
        type part = subgroup_operation(value);                                           \
        if (kOneSubgroup) {                                                              \
            return part;                                                                 \
        }                                                                                \
        barrier();                                                                       \
        if (subgroupElect()) {                                                           \
            reduce_scratch[gl_SubgroupID] = to_bits(part);                               \
        }                                                                                \
        barrier();                                                                       \
        type total = from_bits(reduce_scratch[0]);                                       \
        for (uint index = 1u; index < gl_NumSubgroups; ++index) {                        \
            total = combine(total, from_bits(reduce_scratch[index]));                    \
        }                                                                                \
        return total;                                                                    \
    }

#else

// A tree over shared memory.
#define HEADSCOPE_REDUCTION(name, type, subgroup_operation, combine, to_bits, from_bits)                        \
    type name(type value) {                                                                                     \
        uint lane_index = gl_LocalInvocationID.x;                                                               \
        barrier();                                                                                              \
        reduce_scratch[lane_index] = to_bits(value);                                                                  \
        barrier();                                                                                              \
        for (uint width = gl_WorkGroupSize.x / 2u; width > 0u; width /= 2u) {                                   \
            if (lane_index < width) {                                                                                 \
                reduce_scratch[lane_index] =                                                                          \
                    to_bits(combine(from_bits(reduce_scratch[lane_index]), from_bits(reduce_scratch[lane_index + width]))); \
            }                                                                                                   \
            barrier();                                                                                          \
        }                                                                                                       \
        return from_bits(reduce_scratch[0]);                                                                    \
    }

#endif

float add_floats(float a, float b) { return a + b; }

HEADSCOPE_REDUCTION(group_sum, float, subgroupAdd, add_floats, floatBitsToUint, uintBitsToFloat)
HEADSCOPE_REDUCTION(group_max, float, subgroupMax, max, floatBitsToUint, uintBitsToFloat)
HEADSCOPE_REDUCTION(group_max, uint, subgroupMax, max, uint, uint)
HEADSCOPE_REDUCTION(group_min, uint, subgroupMin, min, uint, uint)

#endif
