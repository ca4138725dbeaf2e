// attend.comp for few queries, as in decoding: one workgroup for each, whose invocations take turns at the keys, each
// with its own running maximum and sums, which are combined at the end. kShare neighbours of a subgroup may share each
// key, each with some of its columns: they load adjacent memory, and keep fewer numbers each. Each key may be of a row of
// k and v of its own.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params.h"
HEADSCOPE_KERNEL(AttendParams, ATTEND_BINDINGS, ATTEND_FEW_CONSTANTS)
#include "attend.glsl"
#include "reduce.glsl"
#include "storage.glsl"
layout(constant_id = constant_share) const uint kShare = 1u;  // a power of two; more than 1 needs full subgroups

#ifdef HEADSCOPE_SUBGROUPS
#extension GL_KHR_shader_subgroup_shuffle : require

// Subgroups that are not full have gaps in their numbers.
uint member() { return kShare > 1u ? gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID : lane(); }

// Sums over the members whose numbers differ only in the bits from `first` up to `end`; there are at most 128.
#define HEADSCOPE_SUM_OF_MEMBERS(type)                           \
    type sum_of_members(type value, uint first, uint end) {      \
        [[unroll]] for (uint i = 0u; i < 7u; ++i) {              \
            uint distance = 1u << i;                             \
            if (distance >= first && distance < end) {           \
                value += subgroupShuffleXor(value, distance);    \
            }                                                    \
        }                                                        \
        return value;                                            \
    }
#else
uint member() { return lane(); }

#define HEADSCOPE_SUM_OF_MEMBERS(type) \
    type sum_of_members(type value, uint first, uint end) { return value; }
#endif

HEADSCOPE_SUM_OF_MEMBERS(float)
HEADSCOPE_SUM_OF_MEMBERS(vec4)

const bool kNamed = (kFlags & 256u) != 0u;

// The row of k and v that has the key.
uint row_of_key(Place place, uint key) {
    return kNamed ? key_rows[p.offset[binding_key_rows] + key * p.drop_site + place.batch] : place.batch;
}

const uint kOwn = (kFours + kShare - 1u) / kShare;  // vec4s of an invocation, kShare apart
const uint kValueOwn = (kValueFours + kShare - 1u) / kShare;

void main() {
    uint index = group_index() / p.queries;
    uint query = group_index() - index * p.queries;
    uint batch = index / p.heads;
    Place place = Place(batch, index - batch * p.heads, index, query);
    Keys allowed = allowed_keys(group_index());
    uint end = allowed.begin + allowed.count;
    uint q_at = p.offset[binding_q] + start_of(place, p.q_strides) + query * p.q_strides[2];
    uint k_start = p.offset[binding_k] + place.head / kHeadsOfGroup * p.k_strides[1];
    uint v_start = p.offset[binding_v] + place.head / kHeadsOfGroup * p.v_strides[1];
    uint part = member() % kShare;
    vec4 q[kOwn];
    [[unroll]] for (uint i = 0u; i < kOwn; ++i) {
        uint four = i * kShare + part;
        q[i] = kFours % kShare == 0u || four < kFours ? p.scale * load_q(q_at, four) : vec4(0.0);
    }
    vec4 sum[kValueOwn];
    [[unroll]] for (uint i = 0u; i < kValueOwn; ++i) {
        sum[i] = vec4(0.0);
    }
    DropoutParams rule = drop_rule();
    DropoutRow drop = drop_row(place);
    float largest = -infinity();
    float total = 0.0;
    for (uint first = allowed.begin; first < end; first += lanes() / kShare) {
        uint key = first + member() / kShare;
        bool sees = key < end;  // the same for all that share the key
        key = min(key, end - 1u);
        uint row = row_of_key(place, key);
        uint k_at = k_start + row * p.k_strides[0] + key * p.k_strides[2];
        uint v_at = v_start + row * p.v_strides[0] + key * p.v_strides[2];
        float score = 0.0;
        [[unroll]] for (uint i = 0u; i < kOwn; ++i) {
            uint four = i * kShare + part;
            if (kFours % kShare == 0u || four < kFours) {
                score = add_dot(q[i], load_k(k_at, four), score);
            }
        }
        score = sum_of_members(score, 1u, kShare);
        float most = sees ? max(largest, score) : largest;
        float left = precise_exp(largest - exponent_base(most));
        float weight = sees ? precise_exp(score - exponent_base(most)) : 0.0;
        largest = most;
        total = fma(total, left, weight);
        weight = kDrops ? dropout_apply(rule, drop_words(rule, drop, query, key), key, weight) : weight;
        [[unroll]] for (uint i = 0u; i < kValueOwn; ++i) {
            uint four = i * kShare + part;
            if (kValueFours % kShare == 0u || four < kValueFours) {
                vec4 v = load_v(v_at, four);
                sum[i] = sees ? fma(vec4(weight), v, left * sum[i]) : sum[i];
            }
        }
    }
    float most = group_max(largest);
    float share = precise_exp(largest - exponent_base(most));
    total = group_sum(part == 0u ? total * share : 0.0);
    float factor = allowed.count == 0u ? 0.0 : 1.0 / total;
    uint out_at = p.offset[binding_out] + start_of(place, p.out_strides) + query * p.out_strides[2];
    if (kOneSubgroup && kShare > 1u) {
        [[unroll]] for (uint i = 0u; i < kValueOwn; ++i) {
            vec4 value = factor * sum_of_members(sum[i] * share, kShare, lanes());
            if (member() < kShare && i * kShare + part < kValueFours) {
                put_out(out_at, i * kShare + part, false, value);
            }
        }
    } else {
        [[unroll]] for (uint column = 0u; column < kValueDepth; ++column) {
            uint four = column / 4u;
            float own = four % kShare == part ? sum[four / kShare][column % 4u] * share : 0.0;
            float value = factor * group_sum(own);
            if (lane() == column % lanes()) {
                narrow_out[out_at + column] = narrow_one(value);
            }
        }
    }
    if (kKeepsSums && lane() == 0u) {
        log_sums[p.offset[binding_log_sums] + group_index()] = log_sum(allowed.count, most, total);
    }
}
