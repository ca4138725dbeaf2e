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

// One weight, and what came of it.
struct Weight {
    float kept;        // after dropout
    float grad_score;  // but for the scale
};

// `row` is of the query, `grad` is grad_out . v.
Weight weight_again(Place place, uvec4 row, uint query, uint key, float score, float grad) {
    float weight = key < row.z ? precise_exp(score - uintBitsToFloat(row.x)) : 0.0;
    float kept = weight;
    if (kDrops) {
        uvec4 drop = rows[p.offset[4] / 4u];
        DropoutParams rule = DropoutParams(drop.x, drop.y, drop.z, 65536.0 / float(65536u - drop.x));
        uvec4 words = dropout_words(rule, DropoutRow((place.head << 16u) | query, row.w, drop.w), key / 8u);
        kept = dropout_apply(rule, words, key, weight);
        grad = dropout_apply(rule, words, key, grad);
    }
    // The weight of a lone key is 1 whatever its score, so its gradient is 0, whatever rounding did to out.
    float mean = row.z == 1u ? grad : uintBitsToFloat(row.y);
    return Weight(kept, key < row.z ? weight * (grad - mean) : 0.0);
}

#endif
