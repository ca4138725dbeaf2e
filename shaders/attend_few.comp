// attend.comp for few queries, as decoding has: a workgroup has one, and its invocations take turns at the keys, each
// with a running maximum and sums of its own. They meet in the end.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params.h"
layout(push_constant) uniform Push { AttendParams p; };
#include "attend.glsl"
#include "reduce.glsl"
#include "storage.glsl"

void main() {
    uint index = group_index() / p.queries;
    uint query = group_index() - index * p.queries;
    uint batch = index / p.heads;
    Place place = Place(batch, index - batch * p.heads, index, query);
    uint allowed = allowed_keys(group_index());
    uint q_at = p.offset[0] + start_of(place, p.q_strides) + query * p.q_strides[2];
    uint k_start = p.offset[3] + start_of(place, p.k_strides);
    uint v_start = p.offset[4] + start_of(place, p.v_strides);
    vec4 q[kFours];
    [[unroll]] for (uint d = 0u; d < kFours; ++d) {
        q[d] = p.scale * load_q(q_at, d);
    }
    vec4 sum[kValueFours];
    [[unroll]] for (uint d = 0u; d < kValueFours; ++d) {
        sum[d] = vec4(0.0);
    }
    float largest = -infinity();
    float total = 0.0;
    for (uint key = lane(); key < allowed; key += lanes()) {
        float score = 0.0;
        [[unroll]] for (uint d = 0u; d < kFours; ++d) {
            score = add_dot(q[d], load_k(k_start + key * p.k_strides[2], d), score);
        }
        float most = max(largest, score);
        float left = precise_exp(largest - exponent_base(most));
        float weight = precise_exp(score - exponent_base(most));
        largest = most;
        total = fma(total, left, weight);
        weight = kDrops ? dropout_apply(drop_rule(), drop_words(place, query, key), key, weight) : weight;
        [[unroll]] for (uint d = 0u; d < kValueFours; ++d) {
            sum[d] = fma(vec4(weight), load_v(v_start + key * p.v_strides[2], d), left * sum[d]);
        }
    }
    float most = group_max(largest);
    float share = precise_exp(largest - exponent_base(most));
    total = group_sum(total * share);
    float factor = allowed == 0u ? 0.0 : 1.0 / total;
    uint out_at = p.offset[7] + start_of(place, p.out_strides) + query * p.out_strides[2];
    [[unroll]] for (uint column = 0u; column < kValueDepth; ++column) {
        float value = factor * group_sum(sum[column / 4u][column % 4u] * share);
        if (lane() == column % lanes()) {
            to[out_at + column] = narrow_one(value);
        }
    }
    if (kKeepsSums && lane() == 0u) {
        log_sums[p.offset[8] + group_index()] = log_sum(allowed, most, total);
    }
}
