// softmax(scale q k^T) v of a head, a few queries at a time.
#include "cooperative_heads.glsl"

// The weights of the queries from `first`, of their scores.
void weigh(Place place, DropoutParams rule, DropoutRow drop, uint first) {
    uint query = first + own_row();
    bool is_there = query < p.queries;
    uint row = place.index * p.queries + query;
    Keys allowed = is_there ? allowed_keys(row) : Keys(0u, 0u);
    float largest = largest_score(allowed);
    float total = 0.0;
    for (uint eight = own_part(); eight < kEights; eight += kSharing) {
        [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < 8u; ++i) {
            uint key = 8u * eight + i;
            total += weight_of(key, allowed, largest, 1.0);
        }
    }
    total = row_sum(total);
    float factor = 1.0 / total;
    for (uint eight = own_part(); eight < kEights; eight += kSharing) {
        uvec4 words = kDrops ? drop_words(rule, drop, query, 8u * eight) : uvec4(0u);
        float weights[8];
        [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < 8u; ++i) {
            uint key = 8u * eight + i;
            float weight = weight_of(key, allowed, largest, factor);
            weights[i] = kDrops ? dropout_apply(rule, words, key, weight) : weight;
        }
        put_pairs(kWeightsAt, eight, weights);
    }
    if (kKeepsSums && is_there && own_part() == 0u) {
        log_sums[p.offset[binding_log_sums] + row] = log_sum(allowed.count, largest, total);
    }
}

void main() {
    Place place = own_place(p.heads);
    uint q_start = p.offset[binding_q] + start_of(place, p.q_strides);
    uint out_start = p.offset[binding_out] + start_of(place, p.out_strides);
    DropoutParams rule = drop_rule();
    DropoutRow drop = drop_row(place);
    stage_keys(place);
    for (uint first = 0u; first < p.queries; first += kRows) {
        HEADSCOPE_STAGE(kQAt, kPitch, kRows, kDepth, kPaddedDepth, take_q, q_start + first * p.q_strides[2],
                        p.q_strides[2], first + row < p.queries)
        barrier();
        HEADSCOPE_SCORES(kScoresAt, kQAt, kKAt, kPaddedDepth, kPitch)
        barrier();
        weigh(place, rule, drop, first);
        barrier();
        [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < own_tiles(kRows, kPaddedValueDepth); ++i) {
            uint tile = own_tile(i);
            uint row_at = row_of_tile(tile, kPaddedValueDepth);
            uint column_at = column_of_tile(tile, kPaddedValueDepth);
            MatrixC sums = zero_matrix();
            if (tile < tiles_of(kRows, kPaddedValueDepth)) {
                HEADSCOPE_ADD_PRODUCT(sums, kKeys, load_a, kWeightsAt + row_at * kWeightPitch, kWeightPitch, kAlong,
                                      load_b, kVAt + column_at / 2u, kValuePitch, kK * kValuePitch)
            }
            HEADSCOPE_PUT_SUMS(sums, tile, p.queries - first, kValueDepth, kRows, kPaddedValueDepth, put_out,
                               out_start + first * p.out_strides[2], p.out_strides[2], false, 1.0)
        }
        barrier();
    }
}
