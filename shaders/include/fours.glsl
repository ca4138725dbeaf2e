// Four neighbours of a row at a time: by vectors where the dispatcher says that every buffer's rows begin at a multiple
// of four and have a multiple of four columns, else one by one, and of the last four those that there are. With
// HEADSCOPE_TEXELS what is only read comes through texel buffers.
#ifndef HEADSCOPE_FOURS_GLSL
#define HEADSCOPE_FOURS_GLSL

#extension GL_EXT_control_flow_attributes : require

layout(constant_id = 2) const bool kFours = false;

#define HEADSCOPE_BOTH  // read and written

// A buffer of floats called name, its vectors, and name_at(index, count), 0 past count.
#ifdef HEADSCOPE_TEXELS
#define HEADSCOPE_READ_FOURS(slot, name) HEADSCOPE_TEXEL_FOURS(slot, name, vec4, uintBitsToFloat)
#else
#define HEADSCOPE_READ_FOURS(slot, name) HEADSCOPE_FOURS(slot, name, readonly, float, vec4)
#endif
// The same, to be written as well: name_put(index, count, value).
#define HEADSCOPE_WRITE_FOURS(slot, name) HEADSCOPE_FOURS(slot, name, HEADSCOPE_BOTH, float, vec4) HEADSCOPE_PUT(name, vec4)
// 32-bit words likewise.
#ifdef HEADSCOPE_TEXELS
#define HEADSCOPE_READ_WORDS(slot, name) HEADSCOPE_TEXEL_FOURS(slot, name, uvec4, uvec4)
#else
#define HEADSCOPE_READ_WORDS(slot, name) HEADSCOPE_FOURS(slot, name, readonly, uint, uvec4)
#endif
#define HEADSCOPE_WRITE_WORDS(slot, name) HEADSCOPE_FOURS(slot, name, HEADSCOPE_BOTH, uint, uvec4) HEADSCOPE_PUT(name, uvec4)

#define HEADSCOPE_FOURS(slot, name, access, one, four)                                     \
    layout(set = 0, binding = slot) access buffer name##_block { one name[]; };            \
    layout(set = 0, binding = slot) access buffer name##_vectors { four name##_fours[]; }; \
    four name##_at(uint index, uint count) {                                               \
        if (kFours) {                                                                      \
            return name##_fours[index / 4u];                                               \
        }                                                                                  \
        four value = four(0);                                                              \
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {                                        \
            if (i < count) {                                                               \
                value[i] = name[index + i];                                                \
            }                                                                              \
        }                                                                                  \
        return value;                                                                      \
    }

// Fours that do not lie as texels do are put together from two.
#define HEADSCOPE_TEXEL_FOURS(slot, name, four, from_bits)                          \
    layout(set = 0, binding = slot) uniform usamplerBuffer name##_texels;           \
    four name##_at(uint index, uint count) {                                        \
        uvec4 first = texelFetch(name##_texels, int(index / 4u));                   \
        if (kFours) {                                                               \
            return from_bits(first);                                                \
        }                                                                           \
        uvec4 second = texelFetch(name##_texels, int(index / 4u) + 1);              \
        return from_bits(four_across(first, second, index % 4u, count));            \
    }

// Of two texels' elements those from `skipped` on, 0 past count.
uvec4 four_across(uvec4 first, uvec4 second, uint skipped, uint count) {
    uvec4 odd = (skipped & 1u) != 0u ? uvec4(first.yzw, second.x) : first;
    uvec2 rest = (skipped & 1u) != 0u ? second.yz : second.xy;
    uvec4 value = (skipped & 2u) != 0u ? uvec4(odd.zw, rest) : odd;
    return mix(uvec4(0u), value, lessThan(uvec4(0u, 1u, 2u, 3u), uvec4(count)));
}

#define HEADSCOPE_PUT(name, four)                           \
    void name##_put(uint index, uint count, four value) {   \
        if (kFours) {                                       \
            name##_fours[index / 4u] = value;               \
            return;                                         \
        }                                                   \
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {         \
            if (i < count) {                                \
                name[index + i] = value[i];                 \
            }                                               \
        }                                                   \
    }

// The columns of a row's i-th four that an invocation keeps: two and two lie together. To be included before grid.glsl's
// functions are called.
#define held_column(i) (8u * (((i) / 2u) * lanes() + lane()) + 4u * ((i) % 2u))

float sum_of_four(vec4 value) { return (value.x + value.y) + (value.z + value.w); }

// value with 0 past the row's end, which is count away.
vec4 of_row(vec4 value, uint count) {
    return kFours ? value : mix(vec4(0.0), value, lessThan(uvec4(0u, 1u, 2u, 3u), uvec4(count)));
}

// value with 0 past count.
vec4 first_of_four(vec4 value, uint count) {
    return mix(vec4(0.0), value, lessThan(uvec4(0u, 1u, 2u, 3u), uvec4(count)));
}

#endif
