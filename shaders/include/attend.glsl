// Operands of both forward kernels of attention. Include after the push constants `p`.
#ifndef HEADSCOPE_ATTEND_GLSL
#define HEADSCOPE_ATTEND_GLSL

#include "dropout.glsl"
#include "grid.glsl"
#include "heads.glsl"
#include "mask.glsl"

const bool kKeepsSums = (kFlags & 4u) != 0u;

HEADSCOPE_ROWS(binding_q, load_q, kDepth, WideQ, wide_q, NarrowQ, narrow_q)
HEADSCOPE_ROWS(binding_k, load_k, kDepth, WideK, wide_k, NarrowK, narrow_k)
HEADSCOPE_ROWS(binding_v, load_v, kValueDepth, WideV, wide_v, NarrowV, narrow_v)
layout(set = 0, binding = binding_step) readonly buffer Step { uint steps[]; };
layout(set = 0, binding = binding_ordinals) readonly buffer Ordinals { uint ordinals[]; };
layout(set = 0, binding = binding_key_rows) readonly buffer KeyRows { uint key_rows[]; };  // [keys, batch]
HEADSCOPE_PUT_ROWS(binding_out, put_out, kValueDepth, WideOut, wide_out, NarrowOut, narrow_out)
layout(set = 0, binding = binding_log_sums) writeonly buffer LogSums { float log_sums[]; };

DropoutParams drop_rule() {
    return DropoutParams(p.drop_threshold, p.drop_seed, p.drop_site, 65536.0 / float(65536u - p.drop_threshold));
}

// Common to a head's rows. Read before all loops, in which software devices would read it again each time.
DropoutRow drop_row(Place place) {
    if (!kDrops) {
        return DropoutRow(0u, 0u, 0u);
    }
    return DropoutRow(place.head << 16u, ordinals[p.offset[binding_ordinals] + place.batch],
                      steps[p.offset[binding_step]]);
}

// Random bits for the query's eight weights that include the key's.
uvec4 drop_words(DropoutParams rule, DropoutRow row, uint query, uint key) {
    row.place |= query;
    return dropout_words(rule, row, key / 8u);
}

#endif
