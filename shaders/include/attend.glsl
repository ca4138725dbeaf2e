// What both kernels of attention's way forward read and write. To be included after the push constants `p`.
#ifndef HEADSCOPE_ATTEND_GLSL
#define HEADSCOPE_ATTEND_GLSL

#include "dropout.glsl"
#include "grid.glsl"
#include "heads.glsl"
#include "mask.glsl"

const bool kKeepsSums = (kFlags & 4u) != 0u;

HEADSCOPE_ROWS(0, load_q, kDepth, WideQ, wide_q, NarrowQ, narrow_q)
HEADSCOPE_ROWS(3, load_k, kDepth, WideK, wide_k, NarrowK, narrow_k)
HEADSCOPE_ROWS(4, load_v, kValueDepth, WideV, wide_v, NarrowV, narrow_v)
layout(set = 0, binding = 5) readonly buffer Step { uint steps[]; };
layout(set = 0, binding = 6) readonly buffer Ordinals { uint ordinals[]; };
layout(set = 0, binding = 7) writeonly buffer Out { Stored to[]; };
layout(set = 0, binding = 8) writeonly buffer LogSums { float log_sums[]; };

// The columns from 4 * four on of the row that begins at `at`.
void put_out(uint at, uint four, vec4 value) {
    [[unroll]] for (uint x = 0u; x < 4u; ++x) {
        if (kValueDepth % 4u == 0u || 4u * four + x < kValueDepth) {
            to[at + 4u * four + x] = narrow_one(value[x]);
        }
    }
}

DropoutParams drop_rule() {
    return DropoutParams(p.drop_threshold, p.drop_seed, p.drop_site, 65536.0 / float(65536u - p.drop_threshold));
}

// Random bits for the query's eight weights of which the key's is one.
uvec4 drop_words(Place place, uint query, uint key) {
    DropoutRow row =
        DropoutRow((place.head << 16u) | query, ordinals[p.offset[6] + place.batch], steps[p.offset[5]]);
    return dropout_words(drop_rule(), row, key / 8u);
}

#endif
