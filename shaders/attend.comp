// softmax(scale q k^T) v with a running maximum (Milakov & Gimelshein, 2018): weights are never written. An invocation
// keeps a few queries and the sums of their rows in registers. All invocations of a workgroup visit the same key at
// once, so that they load the same addresses, and none waits for another.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params.h"
HEADSCOPE_KERNEL(AttendParams, ATTEND_BINDINGS, HEADS_CONSTANTS)
#include "attend.glsl"
#include "storage.glsl"

void put(Place place, uint i, uint four, vec4 value) {
    uint query = row_of(place, i);
    if (query < p.queries) {
        put_out(p.offset[binding_out] + start_of(place, p.out_strides) + query * p.out_strides[2], four, false, value);
    }
}

// The keys from the first to the last that some query of this workgroup may see.
Keys keys_of_workgroup(Place place) {
    uint first_row = place.index * p.queries;
    uint end = first_row + min(place.first + lanes() * kRows, p.queries);
    Keys all = allowed_keys(end - 1u);
    for (uint row = first_row + place.first; kRanges && row < end; ++row) {
        all = joined(all, allowed_keys(row));
    }
    return all;
}

void main() {
    Place place = place_among(p.queries, p.heads);
    uint first_row = place.index * p.queries;
    Keys all = keys_of_workgroup(place);
    uint q_start = p.offset[binding_q] + start_of(place, p.q_strides);
    uint k_start = p.offset[binding_k] + start_of_group(place, p.k_strides);
    uint v_start = p.offset[binding_v] + start_of_group(place, p.v_strides);

    Keys allowed[kRows];
    float largest[kRows];
    float total[kRows];
    vec4 q[kRows][kFours];
    vec4 sum[kRows][kValueFours];
    [[unroll]] for (uint i = 0u; i < kRows; ++i) {
        allowed[i] = allowed_keys(first_row + min(row_of(place, i), p.queries - 1u));
        largest[i] = -infinity();
        total[i] = 0.0;
        [[unroll]] for (uint d = 0u; d < kValueFours; ++d) {
            sum[i][d] = vec4(0.0);
        }
    }
    HEADSCOPE_SET_ROWS(q, kRows, kFours,
                       p.scale * load_q(q_start + min(row_of(place, i), p.queries - 1u) * p.q_strides[2], d))
    DropoutParams rule = drop_rule();
    DropoutRow drop = drop_row(place);
    uvec4 words[kRows];  // of dropout, shared by eight keys
    for (uint key = first_of_eight(all.begin); key < all.begin + all.count; ++key) {
        if (kDrops && key % 8u == 0u) {
            [[unroll]] for (uint i = 0u; i < kRows; ++i) {
                words[i] = drop_words(rule, drop, row_of(place, i), key);
            }
        }
        bool sees[kRows];
        float weight[kRows];
        float left[kRows];
        vec4 k[kFours];
        [[unroll]] for (uint d = 0u; d < kFours; ++d) {
            k[d] = load_k(k_start + key * p.k_strides[2], d);
        }
        [[unroll]] for (uint i = 0u; i < kRows; ++i) {
            float score = 0.0;
            [[unroll]] for (uint d = 0u; d < kFours; ++d) {
                score = add_dot(q[i][d], k[d], score);
            }
            sees[i] = is_among(key, allowed[i].begin, allowed[i].count);
            float most = sees[i] ? max(largest[i], score) : largest[i];
            left[i] = precise_exp(largest[i] - exponent_base(most));
            weight[i] = sees[i] ? precise_exp(score - exponent_base(most)) : 0.0;
            largest[i] = most;
            total[i] = fma(total[i], left[i], weight[i]);
            if (kDrops) {
                weight[i] = dropout_apply(rule, words[i], key, weight[i]);
            }
        }
        vec4 v[kValueFours];  // not earlier: it can reuse the registers of k
        [[unroll]] for (uint d = 0u; d < kValueFours; ++d) {
            v[d] = load_v(v_start + key * p.v_strides[2], d);
        }
        [[unroll]] for (uint i = 0u; i < kRows; ++i) {
            [[unroll]] for (uint d = 0u; d < kValueFours; ++d) {
                // Between the ranges of two queries may lie a key that nobody sees: its value may be NaN.
                vec4 next = fma(vec4(weight[i]), v[d], left[i] * sum[i][d]);
                sum[i][d] = !kRanges || sees[i] ? next : sum[i][d];
            }
        }
    }
    [[unroll]] for (uint i = 0u; i < kRows; ++i) {
        float factor = allowed[i].count == 0u ? 0.0 : 1.0 / total[i];
        [[unroll]] for (uint d = 0u; d < kValueFours; ++d) {
            sum[i][d] *= factor;
        }
        if (kKeepsSums && row_of(place, i) < p.queries) {
            log_sums[p.offset[binding_log_sums] + first_row + row_of(place, i)] =
                log_sum(allowed[i].count, largest[i], total[i]);
        }
    }
    HEADSCOPE_TAKE_ROWS(sum, kRows, kValueFours, put)
}
