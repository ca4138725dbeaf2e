// Four neighbours of a row at a time: by vec4 if the dispatcher says that in every buffer rows are aligned to four and
// have a multiple of four columns, else one by one, with fewer at the end. With HEADSCOPE_TEXELS read-only buffers are
// read through texel buffers.
#ifndef HEADSCOPE_FOURS_GLSL
#define HEADSCOPE_FOURS_GLSL

#extension GL_EXT_control_flow_attributes : require
#include "storage.glsl"

layout(constant_id = constant_fours) const bool kFours = false;

#define HEADSCOPE_BOTH  // read and written
#define same(value) value

// Declares a buffer called name in the type of storage.glsl, its vectors, and name_at(index, count), which is 0 past
// count.
#ifdef HEADSCOPE_TEXELS
#define HEADSCOPE_READ_FOURS(slot, name) HEADSCOPE_TEXEL_FOURS(slot, name, vec4, uintBitsToFloat)
#else
#define HEADSCOPE_READ_FOURS(slot, name) \
    HEADSCOPE_FOURS(slot, name, readonly, Stored, StoredFour, vec4, widen_one, widen_four)
#endif
// The same for writing too: name_put(index, count, value).
#define HEADSCOPE_WRITE_FOURS(slot, name)                                                      \
    HEADSCOPE_FOURS(slot, name, HEADSCOPE_BOTH, Stored, StoredFour, vec4, widen_one, widen_four) \
    HEADSCOPE_PUT(name, vec4, narrow_one, narrow_four)
// Floats, whatever the op's own type.
#ifdef HEADSCOPE_TEXELS
#define HEADSCOPE_READ_FLOATS(slot, name) HEADSCOPE_TEXEL_FOURS(slot, name, vec4, uintBitsToFloat)
#else
#define HEADSCOPE_READ_FLOATS(slot, name) HEADSCOPE_FOURS(slot, name, readonly, float, vec4, vec4, same, same)
#endif
#define HEADSCOPE_WRITE_FLOATS(slot, name)                                      \
    HEADSCOPE_FOURS(slot, name, HEADSCOPE_BOTH, float, vec4, vec4, same, same) \
    HEADSCOPE_PUT(name, vec4, same, same)
// Words of the stored type's width, unconverted.
#ifdef HEADSCOPE_TEXELS
#define HEADSCOPE_READ_WORDS(slot, name) HEADSCOPE_TEXEL_FOURS(slot, name, uvec4, uvec4)
#else
#define HEADSCOPE_READ_WORDS(slot, name) \
    HEADSCOPE_FOURS(slot, name, readonly, Word, WordFour, uvec4, widen_word, widen_words)
#endif
#define HEADSCOPE_WRITE_WORDS(slot, name)                                                     \
    HEADSCOPE_FOURS(slot, name, HEADSCOPE_BOTH, Word, WordFour, uvec4, widen_word, widen_words) \
    HEADSCOPE_PUT(name, uvec4, narrow_word, narrow_words)

#define HEADSCOPE_FOURS(slot, name, access, One, Four, four, load, load_vector)            \
    layout(set = 0, binding = slot) access buffer name##_block { One name[]; };            \
    layout(set = 0, binding = slot) access buffer name##_vectors { Four name##_fours[]; }; \
    four name##_at(uint index, uint count) {                                               \
        if (kFours) {                                                                      \
            return load_vector(name##_fours[index / 4u]);                                  \
        }                                                                                  \
        four value = four(0);                                                              \
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {                                        \
            if (i < count) {                                                               \
                value[i] = load(name[index + i]);                                          \
            }                                                                              \
        }                                                                                  \
        return value;                                                                      \
    }

// A vec4 that is not aligned to texels is assembled from two.
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

// The elements of two texels from `skipped`, 0 past count.
uvec4 four_across(uvec4 first, uvec4 second, uint skipped, uint count) {
    uvec4 odd = (skipped & 1u) != 0u ? uvec4(first.yzw, second.x) : first;
    uvec2 rest = (skipped & 1u) != 0u ? second.yz : second.xy;
    uvec4 value = (skipped & 2u) != 0u ? uvec4(odd.zw, rest) : odd;
    return mix(uvec4(0u), value, lessThan(uvec4(0u, 1u, 2u, 3u), uvec4(count)));
}

#define HEADSCOPE_PUT(name, four, store, store_vector)      \
    void name##_put(uint index, uint count, four value) {   \
        if (kFours) {                                       \
            name##_fours[index / 4u] = store_vector(value); \
            return;                                         \
        }                                                   \
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {         \
            if (i < count) {                                \
                name[index + i] = store(value[i]);          \
            }                                               \
        }                                                   \
    }

// The columns of a row's i-th vec4 that an invocation keeps: in adjacent pairs. Include before calling grid.glsl's
// functions.
#define held_column(i) (8u * (((i) / 2u) * lanes() + lane()) + 4u * ((i) % 2u))

float sum_of_four(vec4 value) { return (value.x + value.y) + (value.z + value.w); }

// value with 0 past the row's end, which is at count.
vec4 of_row(vec4 value, uint count) {
    return kFours ? value : mix(vec4(0.0), value, lessThan(uvec4(0u, 1u, 2u, 3u), uvec4(count)));
}

// value with 0 past count.
vec4 first_of_four(vec4 value, uint count) {
    return mix(vec4(0.0), value, lessThan(uvec4(0u, 1u, 2u, 3u), uvec4(count)));
}

#endif
