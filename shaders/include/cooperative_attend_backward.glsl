// The gradients of q, k and v of the heads that share k and v, a few queries at a time, of weights computed anew. What
// the sum of the weights' gradients needs comes of them, too: neither out nor the log of a sum is read.
#include "cooperative_heads.glsl"

HEADSCOPE_PAIRS(binding_grad_out, take_grad, kValueDepth, GradFours, grad_fours, GradWords, grad_words)
HEADSCOPE_PUT_ROWS(binding_grad_q, put_grad_q, kDepth, WideGradQ, wide_grad_q, NarrowGradQ, narrow_grad_q)
HEADSCOPE_PUT_ROWS(binding_grad_k, put_grad_k, kDepth, WideGradK, wide_grad_k, NarrowGradK, narrow_grad_k)
HEADSCOPE_PUT_ROWS(binding_grad_v, put_grad_v, kValueDepth, WideGradV, wide_grad_v, NarrowGradV, narrow_grad_v)
layout(set = 0, binding = binding_step) readonly buffer Step { uint steps[]; };
layout(set = 0, binding = binding_ordinals) readonly buffer Ordinals { uint ordinals[]; };

const bool kWantsK = (kFlags & 4u) != 0u;
const bool kWantsV = (kFlags & 8u) != 0u;
const bool kWantsQ = (kFlags & 64u) != 0u;
const bool kAddsQ = (kFlags & 256u) != 0u;
const bool kAddsK = (kFlags & 512u) != 0u;
const bool kAddsV = (kFlags & 1024u) != 0u;
const uint kThreshold = kFlags >> 16u;  // of dropout

float grad_weight_of(uint key) { return uintBitsToFloat(memory[kGradWeightsAt + own_row() * kScorePitch + key]); }

// The weights of the queries from `first`, after dropout, and the gradients of their scores, not yet scaled.
void weigh(Place place, DropoutParams rule, DropoutRow drop, uint first) {
    uint query = first + own_row();
    Keys allowed = query < p.queries ? allowed_keys(place.index * p.queries + query) : Keys(0u, 0u);
    drop.place |= query;
    float largest = largest_score(allowed);
    float total = 0.0;
    float mean = 0.0;  // of the gradients, by weight
    for (uint eight = own_part(); eight < kEights; eight += kSharing) {
        uvec4 words = kDrops ? dropout_words(rule, drop, eight) : uvec4(0u);
        [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < 8u; ++i) {
            uint key = 8u * eight + i;
            if (is_among(key, allowed.begin, allowed.count)) {
                float weight = weight_of(key, allowed, largest, 1.0);
                float grad = grad_weight_of(key);
                total += weight;
                mean = fma(weight, kDrops ? dropout_apply(rule, words, key, grad) : grad, mean);
            }
        }
    }
    total = row_sum(total);
    float factor = 1.0 / total;
    mean = factor * row_sum(mean);
    for (uint eight = own_part(); eight < kEights; eight += kSharing) {
        uvec4 words = kDrops ? dropout_words(rule, drop, eight) : uvec4(0u);
        float weights[8];
        float grad_scores[8];
        [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < 8u; ++i) {
            uint key = 8u * eight + i;
            bool sees = is_among(key, allowed.begin, allowed.count);
            float weight = weight_of(key, allowed, largest, factor);
            float grad = grad_weight_of(key);
            weights[i] = kDrops ? dropout_apply(rule, words, key, weight) : weight;
            grad = kDrops ? dropout_apply(rule, words, key, grad) : grad;
            grad_scores[i] = sees ? weight * (grad - mean) : 0.0;
        }
        put_pairs(kWeightsAt, eight, weights);
        put_pairs(kGradScoresAt, eight, grad_scores);
    }
}

// sums[i] += the own tile of the transpose of the table [rows, keys] at `table` times [rows, padded] at `from`.
#define HEADSCOPE_ADD_OVER_QUERIES(sums, table, from, padded, pitch)                                               \
    [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < own_tiles(kKeys, padded); ++i) {                                    \
        uint tile = own_tile(i);                                                                                   \
        if (tile < tiles_of(kKeys, padded)) {                                                                      \
            HEADSCOPE_ADD_PRODUCT(sums[i], kRows, load_a_across, table + row_of_tile(tile, padded) / 2u,           \
                                  kWeightPitch, kK * kWeightPitch, load_b, from + column_of_tile(tile, padded) / 2u, \
                                  pitch, kK * pitch)                                                               \
        }                                                                                                          \
    }

void main() {
    Place group = own_place(p.heads / kHeadsOfGroup);
    DropoutParams rule = DropoutParams(kThreshold, p.drop_seed, p.drop_site, 65536.0 / float(65536u - kThreshold));
    DropoutRow drop = DropoutRow(0u, 0u, 0u);
    if (kDrops) {
        drop = DropoutRow(0u, ordinals[p.offset[binding_ordinals] + group.batch], steps[p.offset[binding_step]]);
    }
    MatrixC sums_k[own_tiles(kKeys, kPaddedDepth)];
    MatrixC sums_v[own_tiles(kKeys, kPaddedValueDepth)];
    [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < own_tiles(kKeys, kPaddedDepth); ++i) {
        sums_k[i] = zero_matrix();
    }
    [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < own_tiles(kKeys, kPaddedValueDepth); ++i) {
        sums_v[i] = zero_matrix();
    }
    stage_keys(head_of_group(group, 0u));
    for (uint member = 0u; member < kHeadsOfGroup; ++member) {
        Place place = head_of_group(group, member);
        uint q_start = start_of(place, p.q_strides);
        uint grad_start = start_of(place, p.grad_strides);
        drop.place = place.head << 16u;
        for (uint first = 0u; first < p.queries; first += kRows) {
            HEADSCOPE_STAGE(kQAt, kPitch, kRows, kDepth, kPaddedDepth, take_q,
                            p.offset[binding_q] + q_start + first * p.q_strides[2], p.q_strides[2],
                            first + row < p.queries)
            HEADSCOPE_STAGE(kGradAt, kValuePitch, kRows, kValueDepth, kPaddedValueDepth, take_grad,
                            p.offset[binding_grad_out] + grad_start + first * p.grad_strides[2], p.grad_strides[2],
                            first + row < p.queries)
            barrier();
            HEADSCOPE_SCORES(kScoresAt, kQAt, kKAt, kPaddedDepth, kPitch)
            HEADSCOPE_SCORES(kGradWeightsAt, kGradAt, kVAt, kPaddedValueDepth, kValuePitch)
            barrier();
            weigh(place, rule, drop, first);
            barrier();
            if (kWantsV) {
                HEADSCOPE_ADD_OVER_QUERIES(sums_v, kWeightsAt, kGradAt, kPaddedValueDepth, kValuePitch)
            }
            if (kWantsK) {
                HEADSCOPE_ADD_OVER_QUERIES(sums_k, kGradScoresAt, kQAt, kPaddedDepth, kPitch)
            }
            [[HEADSCOPE_UNROLL]] for (uint i = 0u; kWantsQ && i < own_tiles(kRows, kPaddedDepth); ++i) {
                uint tile = own_tile(i);
                uint row_at = row_of_tile(tile, kPaddedDepth);
                uint column_at = column_of_tile(tile, kPaddedDepth);
                MatrixC sums = zero_matrix();
                if (tile < tiles_of(kRows, kPaddedDepth)) {
                    HEADSCOPE_ADD_PRODUCT(sums, kKeys, load_a, kGradScoresAt + row_at * kWeightPitch, kWeightPitch,
                                          kAlong, load_b, kKAt + column_at / 2u, kPitch, kK * kPitch)
                }
                HEADSCOPE_PUT_SUMS(sums, tile, p.queries - first, kDepth, kRows, kPaddedDepth, put_grad_q,
                                   p.offset[binding_grad_q] + q_start + first * p.q_strides[2], p.q_strides[2], kAddsQ,
                                   p.scale)
            }
            barrier();
        }
    }
    [[HEADSCOPE_UNROLL]] for (uint i = 0u; kWantsK && i < own_tiles(kKeys, kPaddedDepth); ++i) {
        uint tile = own_tile(i);
        HEADSCOPE_PUT_SUMS(sums_k[i], tile, p.keys, kDepth, kKeys, kPaddedDepth, put_grad_k,
                           p.offset[binding_grad_k] + start_of(group, p.k_strides), p.k_strides[2], kAddsK, p.scale)
    }
    [[HEADSCOPE_UNROLL]] for (uint i = 0u; kWantsV && i < own_tiles(kKeys, kPaddedValueDepth); ++i) {
        uint tile = own_tile(i);
        HEADSCOPE_PUT_SUMS(sums_v[i], tile, p.keys, kValueDepth, kKeys, kPaddedValueDepth, put_grad_v,
                           p.offset[binding_grad_v] + start_of(group, p.v_strides), p.v_strides[2], kAddsV, 1.0)
    }
}
