// Operands of both forward kernels of attention. Include after the push constants `p`.
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
HEADSCOPE_PUT_ROWS(7, put_out, kValueDepth, WideOut, wide_out, NarrowOut, narrow_out)
layout(set = 0, binding = 8) writeonly buffer LogSums { float log_sums[]; };

DropoutParams drop_rule() {
    return DropoutParams(p.drop_threshold, p.drop_seed, p.drop_site, 65536.0 / float(65536u - p.drop_threshold));
}

// Common to a head's rows. Read before all loops, in which software devices would read it again each time.
DropoutRow drop_row(Place place) {
    if (!kDrops) {
        return DropoutRow(0u, 0u, 0u);
    }
    return DropoutRow(place.head << 16u, ordinals[p.offset[6] + place.batch], steps[p.offset[5]]);
}

// Random bits for the query's eight weights that include the key's.
uvec4 drop_words(DropoutParams rule, DropoutRow row, uint query, uint key) {
    row.place |= query;
    return dropout_words(rule, row, key / 8u);
}

#endif
