// What both kernels of attention's way back share: each makes the weights it needs once more. To be included after the
// push constants `p`.
#ifndef HEADSCOPE_ATTEND_BACKWARD_GLSL
#define HEADSCOPE_ATTEND_BACKWARD_GLSL

#include "dropout.glsl"
#include "grid.glsl"
#include "heads.glsl"

HEADSCOPE_ROWS(0, load_q, kDepth, WideQ, wide_q, NarrowQ, narrow_q)
HEADSCOPE_ROWS(1, load_k, kDepth, WideK, wide_k, NarrowK, narrow_k)
HEADSCOPE_ROWS(2, load_v, kValueDepth, WideV, wide_v, NarrowV, narrow_v)
HEADSCOPE_ROWS(3, load_grad, kValueDepth, WideGrad, wide_grad, NarrowGrad, narrow_grad)
layout(set = 0, binding = 4) readonly buffer Rows { uvec4 rows[]; };  // of attend_backward_rows.comp

// What goes by in the loop over rows is needed twice. Where registers do not hold it beside the rest it is loaded anew, and
// from a place that only the device knows to be the same: a compiler would keep it.
const bool kLoadsAgain = (kFlags & 64u) != 0u;
uint no_columns() { return p.accumulate >> 2u; }  // which has two bits

// What dropout is.
struct Drop {
    DropoutParams rule;
    uint step;
};

// Before all loops: a CPU's Vulkan would read it anew in each turn.
Drop read_drop() {
    uvec4 drop = kDrops ? rows[p.offset[4] / 4u] : uvec4(0u);
    return Drop(DropoutParams(drop.x, drop.y, drop.z, 65536.0 / float(65536u - drop.x)), drop.w);
}

// One weight, and what came of it.
struct Weight {
    float kept;        // after dropout
    float grad_score;  // but for the scale
};

// Random bits for the query's eight weights of which the key's is one; `row` is of the query.
uvec4 drop_words(Drop drop, Place place, uvec4 row, uint query, uint key) {
    return dropout_words(drop.rule, DropoutRow((place.head << 16u) | query, row.w, drop.step), key / 8u);
}

// `grad` is grad_out . v.
Weight weight_again(uvec4 row, Drop drop, uvec4 words, uint key, float score, float grad) {
    float weight = key < row.z ? precise_exp(score - uintBitsToFloat(row.x)) : 0.0;
    float kept = weight;
    if (kDrops) {
        kept = dropout_apply(drop.rule, words, key, weight);
        grad = dropout_apply(drop.rule, words, key, grad);
    }
    // The weight of a lone key is 1 whatever its score, so its gradient is 0, whatever rounding did to out.
    float mean = row.z == 1u ? grad : uintBitsToFloat(row.y);
    return Weight(kept, key < row.z ? weight * (grad - mean) : 0.0);
}

#endif
