// Common to both backward kernels of attention: each recomputes the weights. Include after the push constants `p`.
#ifndef HEADSCOPE_ATTEND_BACKWARD_GLSL
#define HEADSCOPE_ATTEND_BACKWARD_GLSL

#include "dropout.glsl"
#include "grid.glsl"
#include "heads.glsl"

HEADSCOPE_ROWS(binding_q, load_q, kDepth, WideQ, wide_q, NarrowQ, narrow_q)
HEADSCOPE_ROWS(binding_k, load_k, kDepth, WideK, wide_k, NarrowK, narrow_k)
HEADSCOPE_ROWS(binding_v, load_v, kValueDepth, WideV, wide_v, NarrowV, narrow_v)
HEADSCOPE_ROWS(binding_grad_out, load_grad, kValueDepth, WideGrad, wide_grad, NarrowGrad, narrow_grad)
layout(set = 0, binding = binding_rows) readonly buffer Rows { uvec4 rows[]; };  // from attend_backward_rows.comp

// Where the head's first query is in `rows`.
uint first_row_of(Place place) { return p.offset[binding_rows] / 4u + 2u + place.index * (p.queries + 1u); }

// The rows of the loop are needed twice. If they do not fit the registers they are loaded again, from an address that
// only the device knows to be the same: otherwise a compiler would keep them.
const bool kLoadsAgain = (kFlags & 64u) != 0u;
uint no_columns() { return p.accumulate >> 2u; }  // always 0: accumulate has two bits

// The dropout rule of a head.
struct Drop {
    DropoutParams rule;
    uint step;
    uint ordinal;
};

// Before all loops, in which software devices would read it again each time.
Drop read_drop(Place place) {
    uvec4 drop = kDrops ? rows[p.offset[binding_rows] / 4u] : uvec4(0u);
    uint ordinal = kDrops ? rows[first_row_of(place) - 1u].x : 0u;
    return Drop(DropoutParams(drop.x, drop.y, drop.z, 65536.0 / float(65536u - drop.x)), drop.w, ordinal);
}

// One weight and what follows from it.
struct Weight {
    float kept;        // after dropout
    float grad_score;  // not yet scaled
};

// Random bits for the query's eight weights that include the key's.
uvec4 drop_words(Drop drop, Place place, uint query, uint key) {
    return dropout_words(drop.rule, DropoutRow((place.head << 16u) | query, drop.ordinal, drop.step), key / 8u);
}

// Whether the query of this row may see the key.
bool sees(uvec4 row, uint key) { return is_among(key, row.w, row.z); }

// `grad` is grad_out . v.
Weight weight_again(uvec4 row, Drop drop, uvec4 words, uint key, float score, float grad) {
    float weight = sees(row, key) ? precise_exp(score - uintBitsToFloat(row.x)) : 0.0;
    float kept = weight;
    if (kDrops) {
        kept = dropout_apply(drop.rule, words, key, weight);
        grad = dropout_apply(drop.rule, words, key, grad);
    }
    // The weight of a single key is 1 whatever its score, so its gradient is exactly 0, whatever out's rounding.
    float mean = row.z == 1u ? grad : uintBitsToFloat(row.y);
    return Weight(kept, sees(row, key) ? weight * (grad - mean) : 0.0);
}

#endif
