// Four neighbours of a row at a time: by vectors where the dispatcher says that every buffer's rows begin at a multiple
// of four and have a multiple of four columns, else one by one, and of the last four those that there are.
#ifndef HEADSCOPE_FOURS_GLSL
#define HEADSCOPE_FOURS_GLSL

#extension GL_EXT_control_flow_attributes : require
#include "storage.glsl"

layout(constant_id = 2) const bool kFours = false;

#define HEADSCOPE_BOTH  // read and written
#define same(value) value

// A buffer called name, stored as storage.glsl says, its vectors, and name_at(index, count), 0 past count.
#define HEADSCOPE_READ_FOURS(slot, name) \
    HEADSCOPE_FOURS(slot, name, readonly, Stored, StoredFour, vec4, widen_one, widen_four)
// The same, to be written as well: name_put(index, count, value).
#define HEADSCOPE_WRITE_FOURS(slot, name)                                                      \
    HEADSCOPE_FOURS(slot, name, HEADSCOPE_BOTH, Stored, StoredFour, vec4, widen_one, widen_four) \
    HEADSCOPE_PUT(name, vec4, narrow_one, narrow_four)
// Floats whatever the op's own type.
#define HEADSCOPE_READ_FLOATS(slot, name) HEADSCOPE_FOURS(slot, name, readonly, float, vec4, vec4, same, same)
#define HEADSCOPE_WRITE_FLOATS(slot, name)                                      \
    HEADSCOPE_FOURS(slot, name, HEADSCOPE_BOTH, float, vec4, vec4, same, same) \
    HEADSCOPE_PUT(name, vec4, same, same)
// Words of the stored type's width, as they are.
#define HEADSCOPE_READ_WORDS(slot, name) \
    HEADSCOPE_FOURS(slot, name, readonly, Word, WordFour, uvec4, widen_word, widen_words)
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

float sum_of_four(vec4 value) { return (value.x + value.y) + (value.z + value.w); }

// value with 0 past count.
vec4 first_of_four(vec4 value, uint count) {
    return mix(vec4(0.0), value, lessThan(uvec4(0u, 1u, 2u, 3u), uvec4(count)));
}

#endif
