// Common to the attention kernels: rows of operands [batch, heads, rows, columns], and the steps of softmax.
#ifndef HEADSCOPE_HEADS_GLSL
#define HEADSCOPE_HEADS_GLSL

#include "keys.glsl"
#include "math.glsl"
#include "storage.glsl"

layout(constant_id = constant_depth) const uint kDepth = 4u;       // columns of q and k
layout(constant_id = constant_value_depth) const uint kValueDepth = 4u;  // columns of v
layout(constant_id = constant_rows) const uint kRows = 1u;        // of an invocation, lanes() apart
layout(constant_id = constant_flags) const uint kFlags = 0u;
layout(constant_id = constant_heads_of_group) const uint kHeadsOfGroup = 1u;  // that share keys and values

const uint kFours = (kDepth + 3u) / 4u;
const uint kValueFours = (kValueDepth + 3u) / 4u;
// Columns are whole vec4s, and every row that is read or written is aligned.
const bool kWide = (kFlags & 1u) != 0u;
const bool kWideOut = (kFlags & 32u) != 0u;
const bool kDrops = (kFlags & 2u) != 0u;
// 4u, 8u, 64u and all from 256u belong to the kernels.
// The mask has key ranges: a query need not see the first keys.
const bool kRanges = (kFlags & 128u) != 0u;
// Software devices, which have no registers for arrays and compile unrolled code slowly, handle columns in loops.
const bool kLoops = (kFlags & 16u) != 0u;

// The head of this workgroup, and its first row.
struct Place {
    uint batch;
    uint head;
    uint index;  // batch * heads + head
    uint first;
};

// If workgroups share the rows of each of a sentence's `heads`.
Place place_among(uint rows, uint heads) {
    uint of_group = lanes() * kRows;
    uint groups = (rows + of_group - 1u) / of_group;
    uint index = group_index() / groups;
    uint batch = index / heads;
    return Place(batch, index - batch * heads, index, (group_index() - index * groups) * of_group);
}

// The i-th head of a place whose heads are groups of keys and values.
Place head_of_group(Place group, uint i) {
    return Place(group.batch, group.head * kHeadsOfGroup + i, group.index * kHeadsOfGroup + i, group.first);
}

// The i-th row of this invocation; it may be past the last one.
uint row_of(Place place, uint i) { return place.first + i * lanes() + lane(); }

uint start_of(Place place, uint strides[3]) { return place.batch * strides[0] + place.head * strides[1]; }

// Of the keys or values that the head reads.
uint start_of_group(Place place, uint strides[3]) {
    return place.batch * strides[0] + place.head / kHeadsOfGroup * strides[1];
}

// An operand: load(at, four) gives four columns from 4 * four of the row that begins at `at`, zeros past its end.
#define HEADSCOPE_ROWS(slot, load, columns, Wide, wide, Narrow, narrow)          \
    layout(set = 0, binding = slot) readonly buffer Wide { StoredFour wide[]; }; \
    layout(set = 0, binding = slot) readonly buffer Narrow { Stored narrow[]; }; \
    vec4 load(uint at, uint four) {                                              \
        if (kWide) {                                                             \
            return widen_four(wide[at / 4u + four]);                             \
        }                                                                        \
        vec4 value = vec4(0.0);                                                  \
        [[unroll]] for (uint x = 0u; x < 4u; ++x) {                              \
            if (4u * four + x < columns) {                                       \
                value[x] = widen_one(narrow[at + 4u * four + x]);                \
            }                                                                    \
        }                                                                        \
        return value;                                                            \
    }

// An output: put(at, four, adds, value) writes four columns from 4 * four of the row that begins at `at`, or adds to
// them.
#define HEADSCOPE_PUT_ROWS(slot, put, columns, Wide, wide, Narrow, narrow)                \
    layout(set = 0, binding = slot) buffer Wide { StoredFour wide[]; };                   \
    layout(set = 0, binding = slot) buffer Narrow { Stored narrow[]; };                   \
    void put(uint at, uint four, bool adds, vec4 value) {                                 \
        if (kWideOut) {                                                                   \
            vec4 there = adds ? widen_four(wide[at / 4u + four]) : vec4(0.0);             \
            wide[at / 4u + four] = narrow_four(adds ? there + value : value);             \
            return;                                                                       \
        }                                                                                 \
        [[unroll]] for (uint x = 0u; x < 4u; ++x) {                                       \
            uint column = 4u * four + x;                                                  \
            if (columns % 4u == 0u || column < columns) {                                 \
                float there = adds ? widen_one(narrow[at + column]) : 0.0;                \
                narrow[at + column] = narrow_one(adds ? there + value[x] : value[x]);     \
            }                                                                             \
        }                                                                                 \
    }

// to[i][d] = value, an expression in i and d, for every i < rows and d < fours.
#define HEADSCOPE_SET_ROWS(to, rows, fours, value)                          \
    if (kLoops) {                                                           \
        vec4 kept[rows * fours];                                            \
        [[dont_unroll]] for (uint at = 0u; at < rows * fours; ++at) {       \
            uint i = at / fours;                                            \
            uint d = at % fours;                                            \
            kept[at] = value;                                               \
        }                                                                   \
        [[unroll]] for (uint at = 0u; at < rows * fours; ++at) {            \
            to[at / fours][at % fours] = kept[at];                          \
        }                                                                   \
    } else {                                                                \
        [[unroll]] for (uint i = 0u; i < rows; ++i) {                       \
            [[unroll]] for (uint d = 0u; d < fours; ++d) {                  \
                to[i][d] = value;                                           \
            }                                                               \
        }                                                                   \
    }

// take(place, i, d, from[i][d]), likewise.
#define HEADSCOPE_TAKE_ROWS(from, rows, fours, take)                        \
    if (kLoops) {                                                           \
        vec4 kept[rows * fours];                                            \
        [[unroll]] for (uint at = 0u; at < rows * fours; ++at) {            \
            kept[at] = from[at / fours][at % fours];                        \
        }                                                                   \
        [[dont_unroll]] for (uint at = 0u; at < rows * fours; ++at) {       \
            take(place, at / fours, at % fours, kept[at]);                  \
        }                                                                   \
    } else {                                                                \
        [[unroll]] for (uint i = 0u; i < rows; ++i) {                       \
            [[unroll]] for (uint d = 0u; d < fours; ++d) {                  \
                take(place, i, d, from[i][d]);                              \
            }                                                               \
        }                                                                   \
    }

// Whether `key` is one of the keys [begin, begin + count); without ranges begin is 0.
bool is_among(uint key, uint begin, uint count) { return (kRanges ? key - begin : key) < count; }

float add_dot(vec4 a, vec4 b, float sum) {
    return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum))));
}

// The base of exponents. If only -inf was seen so far, any other number, so that exp gives 0.
float exponent_base(float largest) { return is_minus_infinity(largest) ? 0.0 : largest; }

// Where to begin, so that loops draw dropout's bits for keys that start a group of eight.
uint first_of_eight(uint key) { return key & ~7u; }

float log_sum(uint allowed, float largest, float total) {
    return allowed == 0u ? -infinity() : largest + precise_log(total);
}

#endif
