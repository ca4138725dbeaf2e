// grad_k and grad_v: an invocation keeps a few keys and their values, and goes over the queries of all heads that share
// them in order.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params.h"
HEADSCOPE_KERNEL(AttendBackwardKeysParams, ATTEND_BACKWARD_KEYS_BINDINGS, HEADS_CONSTANTS)
#include "attend_backward.glsl"
#include "storage.glsl"
HEADSCOPE_PUT_ROWS(binding_grad_k, put_grad_k, kDepth, WideGradK, wide_grad_k, NarrowGradK, narrow_grad_k)
HEADSCOPE_PUT_ROWS(binding_grad_v, put_grad_v, kValueDepth, WideGradV, wide_grad_v, NarrowGradV, narrow_grad_v)
const bool kWantsK = (kFlags & 4u) != 0u;
const bool kWantsV = (kFlags & 8u) != 0u;

void put_k(Place place, uint i, uint four, vec4 value) {
    uint key = row_of(place, i);
    if (key < p.keys) {
        put_grad_k(p.offset[binding_grad_k] + start_of(place, p.grad_k_strides) + key * p.grad_k_strides[2], four,
                   (p.accumulate & 1u) != 0u, p.scale * value);
    }
}

void put_v(Place place, uint i, uint four, vec4 value) {
    uint key = row_of(place, i);
    if (key < p.keys) {
        put_grad_v(p.offset[binding_grad_v] + start_of(place, p.grad_v_strides) + key * p.grad_v_strides[2], four,
                   (p.accumulate & 2u) != 0u, value);
    }
}

void main() {
    Place place = place_among(p.keys, p.heads / kHeadsOfGroup);  // of the group, whose heads take turns
    uint k_start = p.offset[binding_k] + start_of(place, p.k_strides);
    uint v_start = p.offset[binding_v] + start_of(place, p.v_strides);
    vec4 k[kRows][kFours];
    vec4 v[kRows][kValueFours];
    vec4 sum_k[kRows][kFours];
    vec4 sum_v[kRows][kValueFours];
    [[unroll]] for (uint i = 0u; i < kRows; ++i) {
        [[unroll]] for (uint d = 0u; d < kFours; ++d) {
            sum_k[i][d] = vec4(0.0);
        }
        [[unroll]] for (uint d = 0u; d < kValueFours; ++d) {
            sum_v[i][d] = vec4(0.0);
        }
    }
    HEADSCOPE_SET_ROWS(k, kRows, kFours,
                       p.scale * load_k(k_start + min(row_of(place, i), p.keys - 1u) * p.k_strides[2], d))
    HEADSCOPE_SET_ROWS(v, kRows, kValueFours,
                       load_v(v_start + min(row_of(place, i), p.keys - 1u) * p.v_strides[2], d))
    uint end_key = place.first + lanes() * kRows;
    for (uint member = 0u; member < kHeadsOfGroup; ++member) {
        Place head = head_of_group(place, member);
        uint first_row = first_row_of(head);
        uint q_start = p.offset[binding_q] + start_of(head, p.q_strides);
        uint grad_start = p.offset[binding_grad_out] + start_of(head, p.grad_strides);
        Drop drop = read_drop(head);
        uint first_query = 0u;
        uint end_query = p.queries;
        int window = kRanges ? int(rows[first_row - 1u].z) : 0;
        if (window > 0) {
            int before = int(rows[first_row - 1u].y);
            first_query = uint(clamp(int(place.first) - before - window + 1, 0, int(p.queries)));
            end_query = uint(clamp(int(end_key) - 1 - before + window, 0, int(p.queries)));
        }
        // Without ranges or a window, later queries see at least as many keys.
        while (!kRanges && first_query < p.queries && rows[first_row + first_query].z <= place.first) {
            ++first_query;
        }
        for (uint query = first_query; query < end_query; ++query) {
            uvec4 row = rows[first_row + query];
            if (kRanges && (row.w >= end_key || row.w + row.z <= place.first)) {
                continue;  // it sees none of this workgroup's keys
            }
            vec4 q[kFours];
            vec4 grad[kValueFours];
            float score[kRows];
            float grad_weight[kRows];
            [[unroll]] for (uint i = 0u; i < kRows; ++i) {
                score[i] = 0.0;
                grad_weight[i] = 0.0;
            }
            [[unroll]] for (uint d = 0u; d < kFours; ++d) {
                q[d] = load_q(q_start + query * p.q_strides[2], d);
                [[unroll]] for (uint i = 0u; i < kRows; ++i) {
                    score[i] = add_dot(k[i][d], q[d], score[i]);
                }
            }
            [[unroll]] for (uint d = 0u; d < kValueFours; ++d) {
                grad[d] = load_grad(grad_start + query * p.grad_strides[2], d);
                [[unroll]] for (uint i = 0u; i < kRows; ++i) {
                    grad_weight[i] = kWantsK ? add_dot(v[i][d], grad[d], grad_weight[i]) : 0.0;
                }
            }
            [[unroll]] for (uint i = 0u; i < kRows; ++i) {
                uint key = row_of(place, i);
                uvec4 words = kDrops ? drop_words(drop, head, query, key) : uvec4(0u);
                Weight weight = weight_again(row, drop, words, key, score[i], grad_weight[i]);
                [[unroll]] for (uint d = 0u; kWantsK && d < kFours; ++d) {
                    vec4 column = kLoadsAgain ? load_q(q_start + query * p.q_strides[2] + no_columns(), d) : q[d];
                    sum_k[i][d] = fma(vec4(weight.grad_score), column, sum_k[i][d]);
                }
                [[unroll]] for (uint d = 0u; kWantsV && d < kValueFours; ++d) {
                    sum_v[i][d] = fma(vec4(weight.kept), grad[d], sum_v[i][d]);
                }
            }
        }
    }
    if (kWantsK) {
        HEADSCOPE_TAKE_ROWS(sum_k, kRows, kFours, put_k)
    }
    if (kWantsV) {
        HEADSCOPE_TAKE_ROWS(sum_v, kRows, kValueFours, put_v)
    }
}
