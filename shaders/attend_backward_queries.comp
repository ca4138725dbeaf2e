// grad_q: like attend.comp, an invocation keeps a few queries and goes over the keys.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params.h"
HEADSCOPE_KERNEL(AttendBackwardQueriesParams, ATTEND_BACKWARD_QUERIES_BINDINGS, HEADS_CONSTANTS)
#include "attend_backward.glsl"
#include "storage.glsl"
HEADSCOPE_PUT_ROWS(binding_grad_q, put_grad_q, kDepth, WideGradQ, wide_grad_q, NarrowGradQ, narrow_grad_q)

void put(Place place, uint i, uint four, vec4 value) {
    uint query = row_of(place, i);
    if (query < p.queries) {
        put_grad_q(p.offset[binding_grad_q] + start_of(place, p.grad_q_strides) + query * p.grad_q_strides[2], four,
                   p.accumulate != 0u, p.scale * value);
    }
}

// The keys from the first to the last that some query of this workgroup may see.
Keys keys_of_workgroup(Place place) {
    uint first_row = first_row_of(place);
    uint end = first_row + min(place.first + lanes() * kRows, p.queries);
    Keys all = Keys(rows[end - 1u].w, rows[end - 1u].z);
    for (uint row = first_row + place.first; kRanges && row < end; ++row) {
        all = joined(all, Keys(rows[row].w, rows[row].z));
    }
    return all;
}

void main() {
    Place place = place_among(p.queries, p.heads);
    uint first_row = first_row_of(place);
    Keys all = keys_of_workgroup(place);
    uint q_start = p.offset[binding_q] + start_of(place, p.q_strides);
    uint k_start = p.offset[binding_k] + start_of_group(place, p.k_strides);
    uint v_start = p.offset[binding_v] + start_of_group(place, p.v_strides);
    uint grad_start = p.offset[binding_grad_out] + start_of(place, p.grad_strides);
    uvec4 row[kRows];
    vec4 q[kRows][kFours];
    vec4 grad[kRows][kValueFours];
    vec4 sum[kRows][kFours];
    [[unroll]] for (uint i = 0u; i < kRows; ++i) {
        row[i] = rows[first_row + min(row_of(place, i), p.queries - 1u)];
        [[unroll]] for (uint d = 0u; d < kFours; ++d) {
            sum[i][d] = vec4(0.0);
        }
    }
    HEADSCOPE_SET_ROWS(q, kRows, kFours,
                       p.scale * load_q(q_start + min(row_of(place, i), p.queries - 1u) * p.q_strides[2], d))
    HEADSCOPE_SET_ROWS(grad, kRows, kValueFours,
                       load_grad(grad_start + min(row_of(place, i), p.queries - 1u) * p.grad_strides[2], d))
    Drop drop = read_drop(place);
    uvec4 words[kRows];  // of dropout, shared by eight keys
    for (uint key = first_of_eight(all.begin); key < all.begin + all.count; ++key) {
        if (kDrops && key % 8u == 0u) {
            [[unroll]] for (uint i = 0u; i < kRows; ++i) {
                words[i] = drop_words(drop, place, row_of(place, i), key);
            }
        }
        vec4 k[kFours];
        float score[kRows];
        float grad_weight[kRows];
        [[unroll]] for (uint i = 0u; i < kRows; ++i) {
            score[i] = 0.0;
            grad_weight[i] = 0.0;
        }
        [[unroll]] for (uint d = 0u; d < kFours; ++d) {
            k[d] = load_k(k_start + key * p.k_strides[2], d);
            [[unroll]] for (uint i = 0u; i < kRows; ++i) {
                score[i] = add_dot(q[i][d], k[d], score[i]);
            }
        }
        [[unroll]] for (uint d = 0u; d < kValueFours; ++d) {
            vec4 v = load_v(v_start + key * p.v_strides[2], d);
            [[unroll]] for (uint i = 0u; i < kRows; ++i) {
                grad_weight[i] = add_dot(grad[i][d], v, grad_weight[i]);
            }
        }
        [[unroll]] for (uint i = 0u; i < kRows; ++i) {
            float grad_score = weight_again(row[i], drop, words[i], key, score[i], grad_weight[i]).grad_score;
            [[unroll]] for (uint d = 0u; d < kFours; ++d) {
                vec4 column = kLoadsAgain ? load_k(k_start + key * p.k_strides[2] + no_columns(), d) : k[d];
                // As in attend.comp: the key may be NaN.
                vec4 next = fma(vec4(grad_score), column, sum[i][d]);
                sum[i][d] = !kRanges || sees(row[i], key) ? next : sum[i][d];
            }
        }
    }
    HEADSCOPE_TAKE_ROWS(sum, kRows, kFours, put)
}
