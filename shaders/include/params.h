// The bindings, specialisation constants and push constants of every kernel, read by GLSL and by C++ alike
// (interface.h): 32-bit members only, so that both lay them out the same. Strides are in elements; the innermost is 1.
#ifndef HEADSCOPE_SHADER_PARAMS_H
#define HEADSCOPE_SHADER_PARAMS_H

#include "interface.h"

#ifdef __cplusplus
namespace headscope::vulkan {
#endif

// DropoutRule without its tensors; threshold 0 is the identity.
struct DropoutParams {
    uint threshold;
    uint seed;
    uint site;
    float scale;
};

#define FILL_BINDINGS(B) B(0, out)
#define FILL_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, dimensions)
HEADSCOPE_CONSTANTS(FillConstants, FILL_CONSTANTS)
struct FillParams {
    HEADSCOPE_BINDINGS(FILL_BINDINGS)
    uint fours;
    uint shape[4];
    uint out_strides[3];
    uint bits;
};

#define COPY_BINDINGS(B) B(0, x) B(1, out)
#define COPY_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, dimensions) C(4, accumulates)
#define CONVERT_CONSTANTS(C) COPY_CONSTANTS(C) C(5, x_type) C(6, out_type)
HEADSCOPE_CONSTANTS(CopyConstants, COPY_CONSTANTS)
HEADSCOPE_CONSTANTS(ConvertConstants, CONVERT_CONSTANTS)
struct CopyParams {
    HEADSCOPE_BINDINGS(COPY_BINDINGS)
    uint fours;
    uint shape[4];
    uint x_strides[3];
    uint out_strides[3];
};

#define ADD_SCALED_BINDINGS(B) B(0, a) B(1, b) B(2, out)
#define ADD_SCALED_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, dimensions) C(4, has_b)
HEADSCOPE_CONSTANTS(AddScaledConstants, ADD_SCALED_CONSTANTS)
struct AddScaledParams {
    HEADSCOPE_BINDINGS(ADD_SCALED_BINDINGS)
    uint fours;
    uint shape[4];
    uint a_strides[3];
    uint b_strides[3];
    uint out_strides[3];
    float alpha;
    float beta;
};

#define MULTIPLY_BINDINGS(B) B(0, a) B(1, b) B(2, out)
#define MULTIPLY_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, dimensions) C(4, accumulates)
HEADSCOPE_CONSTANTS(MultiplyConstants, MULTIPLY_CONSTANTS)
struct MultiplyParams {
    HEADSCOPE_BINDINGS(MULTIPLY_BINDINGS)
    uint fours;
    uint shape[4];
    uint a_strides[3];
    uint b_strides[3];
    uint out_strides[3];
};

// One workgroup a row of [batch, heads, positions, columns].
#define DROPOUT_BINDINGS(B) B(0, x) B(1, step) B(2, ordinals) B(3, y)
#define DROPOUT_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, accumulates)
HEADSCOPE_CONSTANTS(DropoutConstants, DROPOUT_CONSTANTS)
struct DropoutKernelParams {
    HEADSCOPE_BINDINGS(DROPOUT_BINDINGS)
    uint heads;
    uint positions;
    uint columns;
    uint first_batch;
    uint first_head;
    uint first_position;
    uint x_strides[3];
    uint y_strides[3];
    DropoutParams dropout;
};

// Element (i, k) of op(a) is a[offset + batch + i * a_row + k * a_column], and so on: a transpose is a pair of strides
// exchanged.
#define MATMUL_BINDINGS(B) B(0, a) B(1, b) B(2, out) B(3, bias)
#define MATMUL_CONSTANTS(C) C(2, rows) C(3, columns) C(4, rounding) C(7, epilogue)
#define MATMUL_VECTOR_CONSTANTS(C) MATMUL_CONSTANTS(C) C(5, a_along_k) C(6, b_along_k)
#define MATMUL_TILED_CONSTANTS(C) MATMUL_CONSTANTS(C) C(5, a_loads) C(6, b_loads)
#define MATMUL_SUBGROUP_CONSTANTS(C) MATMUL_CONSTANTS(C) C(5, along) C(6, fours)
#define MATMUL_COOPERATIVE_CONSTANTS(C) C(2, m) C(3, n) C(4, k) C(5, subgroup_size) C(6, manner) C(7, epilogue)
HEADSCOPE_CONSTANTS(MatmulConstants, MATMUL_CONSTANTS)
HEADSCOPE_CONSTANTS(MatmulVectorConstants, MATMUL_VECTOR_CONSTANTS)
HEADSCOPE_CONSTANTS(MatmulTiledConstants, MATMUL_TILED_CONSTANTS)
HEADSCOPE_CONSTANTS(MatmulSubgroupConstants, MATMUL_SUBGROUP_CONSTANTS)
HEADSCOPE_CONSTANTS(MatmulCooperativeConstants, MATMUL_COOPERATIVE_CONSTANTS)
struct MatmulParams {
    HEADSCOPE_BINDINGS(MATMUL_BINDINGS)
    uint m;
    uint n;
    uint k;
    uint batch_inner;
    uint a_batch[2];
    uint a_row;
    uint a_column;
    uint b_batch[2];
    uint b_row;
    uint b_column;
    uint out_batch[2];
    uint out_row;
    float alpha;
    float beta;
    uint wide_out;  // of operands in 16 bits the output is F32
};

#define BIAS_ACTIVATION_BINDINGS(B) B(0, x) B(1, bias) B(2, step) B(3, ordinals) B(4, y)
#define BIAS_ACTIVATION_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, activation) C(4, drops) C(5, has_bias)
HEADSCOPE_CONSTANTS(BiasActivationConstants, BIAS_ACTIVATION_CONSTANTS)
struct BiasActivationParams {
    HEADSCOPE_BINDINGS(BIAS_ACTIVATION_BINDINGS)
    uint first_row;
    uint sequence;
    uint columns;
    DropoutParams dropout;
};

#define BIAS_ACTIVATION_BACKWARD_BINDINGS(B) B(0, x) B(1, bias) B(2, grad_y) B(3, step) B(4, ordinals) B(5, grad_x)
#define BIAS_ACTIVATION_BACKWARD_CONSTANTS(C) BIAS_ACTIVATION_CONSTANTS(C) C(6, accumulates)
HEADSCOPE_CONSTANTS(BiasActivationBackwardConstants, BIAS_ACTIVATION_BACKWARD_CONSTANTS)
struct BiasActivationBackwardParams {
    HEADSCOPE_BINDINGS(BIAS_ACTIVATION_BACKWARD_BINDINGS)
    uint first_row;
    uint sequence;
    uint columns;
    DropoutParams dropout;
};

// Sums of rows_per_part rows each; out [parts, columns].
#define SUM_ROWS_BINDINGS(B) B(0, x) B(1, out)
struct SumRowsParams {
    HEADSCOPE_BINDINGS(SUM_ROWS_BINDINGS)
    uint rows;
    uint columns;
    uint rows_per_part;
    uint parts;
    uint accumulate;
};

#define ADD_LAYER_NORM_BINDINGS(B) \
    B(0, x) B(1, residual) B(2, gain) B(3, bias) B(4, step) B(5, ordinals) B(6, sum) B(7, y) B(8, mean) B(9, rstd)
#define ADD_LAYER_NORM_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, drops) C(4, held) C(5, has)
HEADSCOPE_CONSTANTS(AddLayerNormConstants, ADD_LAYER_NORM_CONSTANTS)
struct AddLayerNormParams {
    HEADSCOPE_BINDINGS(ADD_LAYER_NORM_BINDINGS)
    uint first_row;
    uint sequence;
    uint columns;
    float epsilon;
    DropoutParams dropout;
};

#define ADD_LAYER_NORM_BACKWARD_BINDINGS(B) \
    B(0, sum)                               \
    B(1, gain)                              \
    B(2, mean)                              \
    B(3, rstd)                              \
    B(4, grad_y)                            \
    B(5, grad_sum_out) B(6, step) B(7, ordinals) B(8, grad_x) B(9, grad_residual) B(10, gain_parts) B(11, bias_parts)
#define ADD_LAYER_NORM_BACKWARD_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, drops) C(4, held) C(5, has)
HEADSCOPE_CONSTANTS(AddLayerNormBackwardConstants, ADD_LAYER_NORM_BACKWARD_CONSTANTS)
struct AddLayerNormBackwardParams {
    HEADSCOPE_BINDINGS(ADD_LAYER_NORM_BACKWARD_BINDINGS)
    uint first_row;
    uint rows;
    uint rows_per_part;
    uint sequence;
    uint columns;
    DropoutParams dropout;
};

// Sums of rows_per_part rows each; out [parts, columns].
#define LAYER_NORM_GAIN_BINDINGS(B) B(0, sum) B(1, mean) B(2, rstd) B(3, grad_y) B(4, grad_gain) B(5, grad_bias)
#define LAYER_NORM_GAIN_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, has_mean) C(4, has_bias)
HEADSCOPE_CONSTANTS(LayerNormGainConstants, LAYER_NORM_GAIN_CONSTANTS)
struct LayerNormGainParams {
    HEADSCOPE_BINDINGS(LAYER_NORM_GAIN_BINDINGS)
    uint rows;
    uint columns;
    uint rows_per_part;
    uint parts;
    uint accumulate_gain;
    uint accumulate_bias;
};

// One workgroup a few rows.
#define MASKED_SOFTMAX_BINDINGS(B) \
    B(0, scores) B(1, key_lengths) B(2, query_offset) B(3, weights) B(4, key_ranges) B(5, by_distance)
#define MASKED_SOFTMAX_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, rows) C(4, held) C(5, alone) C(6, has_distances)
HEADSCOPE_CONSTANTS(MaskedSoftmaxConstants, MASKED_SOFTMAX_CONSTANTS)
struct MaskedSoftmaxParams {
    HEADSCOPE_BINDINGS(MASKED_SOFTMAX_BINDINGS)
    uint rows;
    uint first_row;
    uint heads;
    uint queries;
    uint keys;
    uint mask;
    uint farthest;  // by_distance has 2 farthest + 1 rows
};

// One invocation a sum, of the rows [first_row, first_row + rows) of all heads.
#define SUM_DIAGONALS_BINDINGS(B) B(0, x) B(1, sums)
#define SUM_DIAGONALS_CONSTANTS(C) C(2, accumulates)
HEADSCOPE_CONSTANTS(SumDiagonalsConstants, SUM_DIAGONALS_CONSTANTS)
struct SumDiagonalsParams {
    HEADSCOPE_BINDINGS(SUM_DIAGONALS_BINDINGS)
    uint count;  // of sums
    uint heads;
    uint queries;
    uint keys;
    uint first_row;
    uint rows;
};

// One workgroup a few rows.
#define MASKED_SOFTMAX_BACKWARD_BINDINGS(B) B(0, weights) B(1, grad_weights) B(2, grad_scores)
#define MASKED_SOFTMAX_BACKWARD_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, rows) C(4, held) C(5, accumulates)
HEADSCOPE_CONSTANTS(MaskedSoftmaxBackwardConstants, MASKED_SOFTMAX_BACKWARD_CONSTANTS)
struct MaskedSoftmaxBackwardParams {
    HEADSCOPE_BINDINGS(MASKED_SOFTMAX_BACKWARD_BINDINGS)
    uint rows;
    uint keys;
};

// One workgroup a few queries of a head. Dropout's scale follows from its threshold.
#define ATTEND_BINDINGS(B) \
    B(0, q)                \
    B(1, key_lengths)      \
    B(2, query_offset)     \
    B(3, k) B(4, v) B(5, step) B(6, ordinals) B(7, out) B(8, log_sums) B(9, key_ranges) B(10, key_rows)
#define HEADS_CONSTANTS(C) C(2, depth) C(3, value_depth) C(4, rows) C(5, flags) C(6, heads_of_group)
#define ATTEND_FEW_CONSTANTS(C) HEADS_CONSTANTS(C) C(7, share)
HEADSCOPE_CONSTANTS(HeadsConstants, HEADS_CONSTANTS)
// By matrices: m, n and k of one of them, and of how many subgroups, which share all queries that are at work at once.
#define ATTEND_COOPERATIVE_CONSTANTS(C) \
    HEADS_CONSTANTS(C) C(7, m) C(8, n) C(9, k) C(10, subgroup_size) C(11, subgroups) C(12, padded_keys)
HEADSCOPE_CONSTANTS(AttendFewConstants, ATTEND_FEW_CONSTANTS)
HEADSCOPE_CONSTANTS(AttendCooperativeConstants, ATTEND_COOPERATIVE_CONSTANTS)
struct AttendParams {
    HEADSCOPE_BINDINGS(ATTEND_BINDINGS)
    uint heads;
    uint queries;
    uint keys;
    uint q_strides[3];
    uint k_strides[3];
    uint v_strides[3];
    uint out_strides[3];
    uint mask;
    float scale;
    uint drop_threshold;
    uint drop_seed;
    uint drop_site;  // of keys in several rows, none of which drops out: the number of sentences
};

// One invocation a query.
#define ATTEND_BACKWARD_ROWS_BINDINGS(B) \
    B(0, out)                            \
    B(1, key_lengths)                    \
    B(2, query_offset) B(3, grad_out) B(4, log_sums) B(5, ordinals) B(6, step) B(7, rows) B(8, key_ranges)
struct AttendBackwardRowsParams {
    HEADSCOPE_BINDINGS(ATTEND_BACKWARD_ROWS_BINDINGS)
    uint count;
    uint heads;
    uint queries;
    uint keys;
    uint out_strides[3];
    uint grad_strides[3];
    uint mask;
    uint drop_threshold;
    uint drop_seed;
    uint drop_site;
};

// One workgroup a few queries of a head.
#define ATTEND_BACKWARD_QUERIES_BINDINGS(B) B(0, q) B(1, k) B(2, v) B(3, grad_out) B(4, rows) B(5, grad_q)
struct AttendBackwardQueriesParams {
    HEADSCOPE_BINDINGS(ATTEND_BACKWARD_QUERIES_BINDINGS)
    uint heads;
    uint queries;
    uint q_strides[3];
    uint k_strides[3];
    uint v_strides[3];
    uint grad_strides[3];
    uint grad_q_strides[3];
    float scale;
    uint accumulate;
};

// One workgroup a few keys of a group of heads.
#define ATTEND_BACKWARD_KEYS_BINDINGS(B) B(0, q) B(1, k) B(2, v) B(3, grad_out) B(4, rows) B(5, grad_k) B(6, grad_v)
struct AttendBackwardKeysParams {
    HEADSCOPE_BINDINGS(ATTEND_BACKWARD_KEYS_BINDINGS)
    uint heads;
    uint queries;
    uint keys;
    uint q_strides[3];
    uint k_strides[3];
    uint v_strides[3];
    uint grad_strides[3];
    uint grad_k_strides[3];
    uint grad_v_strides[3];
    float scale;
    uint accumulate;  // 1: to grad_k, 2: to grad_v
};

// One workgroup a group of heads. Gradients lie as what they are of. Dropout's threshold, what is wanted and what is
// added to are in the flags: push constants have no room for more.
#define ATTEND_BACKWARD_COOPERATIVE_BINDINGS(B) \
    B(0, q)                                     \
    B(1, key_lengths)                           \
    B(2, query_offset)                          \
    B(3, k) B(4, v) B(5, step) B(6, ordinals) B(7, grad_out) B(8, key_ranges) B(9, grad_q) B(10, grad_k) B(11, grad_v)
struct AttendBackwardCooperativeParams {
    HEADSCOPE_BINDINGS(ATTEND_BACKWARD_COOPERATIVE_BINDINGS)
    uint heads;
    uint queries;
    uint keys;
    uint q_strides[3];
    uint k_strides[3];
    uint v_strides[3];
    uint grad_strides[3];
    uint mask;
    float scale;
    uint drop_seed;
    uint drop_site;
};

// One workgroup a row. The rules are those of EditAttention.
#define EDIT_ATTENTION_BINDINGS(B) \
    B(0, weights) B(1, key_lengths) B(2, query_offset) B(3, rules) B(4, out) B(5, key_ranges)
struct EditAttentionParams {
    HEADSCOPE_BINDINGS(EDIT_ATTENTION_BINDINGS)
    uint first_row;
    uint heads;
    uint queries;
    uint keys;
    uint mask;
    int off;
    int uniform_weight;
};

// One invocation a score.
#define ADDITIVE_SCORES_BINDINGS(B) B(0, q) B(1, k) B(2, gain) B(3, scores)
struct AdditiveScoresParams {
    HEADSCOPE_BINDINGS(ADDITIVE_SCORES_BINDINGS)
    uint count;
    uint heads;
    uint queries;
    uint keys;
    uint depth;
    uint q_strides[3];
    uint k_strides[3];
};

// One invocation four columns of a row of x. The gradient of the score of a row and one of the others is at
// row * grad_row + other * grad_other of its head.
#define ADDITIVE_SCORES_BACKWARD_BINDINGS(B) \
    B(0, x) B(1, others) B(2, gain) B(3, grad_scores) B(4, grad_x) B(5, products)
#define ADDITIVE_SCORES_BACKWARD_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, accumulates) C(4, has_products)
HEADSCOPE_CONSTANTS(AdditiveScoresBackwardConstants, ADDITIVE_SCORES_BACKWARD_CONSTANTS)
struct AdditiveScoresBackwardParams {
    HEADSCOPE_BINDINGS(ADDITIVE_SCORES_BACKWARD_BINDINGS)
    uint all_rows;  // of all heads
    uint heads;
    uint rows;
    uint others;
    uint depth;
    uint grad_row;
    uint grad_other;
    uint products_row;
    uint x_strides[3];
    uint others_strides[3];
    uint grad_x_strides[3];
};

// One workgroup a row of x.
#define CACHE_APPEND_BINDINGS(B) B(0, x) B(1, position) B(2, cache)
struct CacheAppendParams {
    HEADSCOPE_BINDINGS(CACHE_APPEND_BINDINGS)
    uint heads;
    uint sequence;
    uint depth;
    uint capacity;
    uint x_strides[3];
    uint cache_strides[3];
};

// One invocation four pairs of columns; the shape's last dimension counts pairs. The table's binding holds rows
// [turns_first, turns_first + turns_rows) of `positions`. `sign` is -1 for the inverse.
#define ROTATE_BINDINGS(B) B(0, x) B(1, turns) B(2, first) B(3, out)
#define ROTATE_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, dimensions) C(4, neighbours)
HEADSCOPE_CONSTANTS(RotateConstants, ROTATE_CONSTANTS)
struct RotateParams {
    HEADSCOPE_BINDINGS(ROTATE_BINDINGS)
    uint fours;
    uint shape[4];
    uint x_strides[3];
    uint out_strides[3];
    uint positions;
    uint turns_first;
    uint turns_rows;
    uint first_position;
    uint has_first;
    float sign;
};

// One invocation four elements of one of the rows [first_key, first_key + rows) of each head.
#define MASK_KEYS_BINDINGS(B) B(0, x) B(1, key_lengths) B(2, query_offset) B(3, out) B(4, key_ranges)
struct MaskKeysParams {
    HEADSCOPE_BINDINGS(MASK_KEYS_BINDINGS)
    uint heads;
    uint queries;
    uint keys;
    uint first_key;
    uint rows;
    uint depth;
    uint count;  // of rows, in all heads
    uint x_strides[3];
    uint mask;
};

// One workgroup a row. The table's binding holds rows [table_first, table_first + table_rows) of `vocabulary`.
#define EMBED_BINDINGS(B) B(0, ids) B(1, table) B(2, positions) B(3, first) B(4, out)
#define EMBED_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, has_positions)
HEADSCOPE_CONSTANTS(EmbedConstants, EMBED_CONSTANTS)
struct EmbedParams {
    HEADSCOPE_BINDINGS(EMBED_BINDINGS)
    uint first_row;
    uint sequence;
    uint columns;
    uint vocabulary;
    uint table_first;
    uint table_rows;
    uint has_first;
    uint max_length;
    uint positions_stride;
    float scale;
};

// One workgroup a row, as Embed's. `blocks`: of a row.
#define BLOCK_EMBED_BINDINGS(B) B(0, ids) B(1, codes) B(2, scales) B(3, out)
#define BLOCK_EMBED_CONSTANTS(C) C(2, eight_bits) C(3, has_ids) C(4, factors)
HEADSCOPE_CONSTANTS(BlockEmbedConstants, BLOCK_EMBED_CONSTANTS)
struct BlockEmbedParams {
    HEADSCOPE_BINDINGS(BLOCK_EMBED_BINDINGS)
    uint first_row;
    uint columns;
    uint blocks;
    uint vocabulary;
    uint table_first;
    uint table_rows;
    float scale;
};

// One workgroup `columns` of the n outputs of m rows.
#define BLOCK_LINEAR_BINDINGS(B) B(0, x) B(1, codes) B(2, scales) B(3, y)
#define BLOCK_LINEAR_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, rows) C(4, columns) C(5, eight_bits) C(6, factors)
HEADSCOPE_CONSTANTS(BlockLinearConstants, BLOCK_LINEAR_CONSTANTS)
struct BlockLinearParams {
    HEADSCOPE_BINDINGS(BLOCK_LINEAR_BINDINGS)
    uint m;
    uint n;
    uint k;
    uint blocks;
    uint x_row;
    uint y_row;
    float alpha;
};

// `slices` workgroups an entry of the order. grad_out's binding holds the flat positions [grad_first, grad_first +
// grad_rows) of `count`, grad_table's the rows [table_first, table_first + table_rows).
#define EMBED_BACKWARD_BINDINGS(B) B(0, ids) B(1, order) B(2, grad_out) B(3, grad_table)
#define EMBED_BACKWARD_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, accumulates)
HEADSCOPE_CONSTANTS(EmbedBackwardConstants, EMBED_BACKWARD_CONSTANTS)
struct EmbedBackwardParams {
    HEADSCOPE_BINDINGS(EMBED_BACKWARD_BINDINGS)
    uint count;
    uint grad_first;
    uint grad_rows;
    uint columns;
    uint table_first;
    uint table_rows;
    uint slices;
    float scale;
};

// One invocation a token.
#define ROUTE_TOKENS_BINDINGS(B) B(0, logits) B(1, probabilities) B(2, chosen)
struct RouteTokensParams {
    HEADSCOPE_BINDINGS(ROUTE_TOKENS_BINDINGS)
    uint tokens;
    uint experts;
    uint choices;
};

// One workgroup an expert.
#define PLACE_TOKENS_BINDINGS(B) \
    B(0, probabilities)          \
    B(1, chosen)                 \
    B(2, lengths) B(3, ordinals) B(4, slots) B(5, sources) B(6, weights) B(7, keys) B(8, shares) B(9, sums)
#define PLACE_TOKENS_CONSTANTS(C) C(2, has_lengths) C(3, has_keys)
HEADSCOPE_CONSTANTS(PlaceTokensConstants, PLACE_TOKENS_CONSTANTS)
struct PlaceTokensParams {
    HEADSCOPE_BINDINGS(PLACE_TOKENS_BINDINGS)
    uint tokens;
    uint sequence;
    uint experts;
    uint choices;
    uint capacity;
};

// One invocation a token.
#define ROUTE_TOKENS_BACKWARD_BINDINGS(B) \
    B(0, probabilities) B(1, lengths) B(2, chosen) B(3, slots) B(4, grad_weights) B(5, grad_sums) B(6, grad_logits)
#define ROUTE_TOKENS_BACKWARD_CONSTANTS(C) C(2, has_lengths) C(3, has_sums) C(4, accumulates)
HEADSCOPE_CONSTANTS(RouteTokensBackwardConstants, ROUTE_TOKENS_BACKWARD_CONSTANTS)
struct RouteTokensBackwardParams {
    HEADSCOPE_BINDINGS(ROUTE_TOKENS_BACKWARD_BINDINGS)
    uint tokens;
    uint sequence;
    uint experts;
    uint choices;
};

// One workgroup a slot. x's binding holds the tokens [first_token, first_token + tokens); slots of others are emptied,
// or keep what they have.
#define TAKE_TOKENS_BINDINGS(B) B(0, x) B(1, sources) B(2, weights) B(3, others) B(4, to) B(5, dots)
#define TAKE_TOKENS_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, has_weights) C(4, has_others) C(5, keeps)
HEADSCOPE_CONSTANTS(TakeTokensConstants, TAKE_TOKENS_CONSTANTS)
struct TakeTokensParams {
    HEADSCOPE_BINDINGS(TAKE_TOKENS_BINDINGS)
    uint first_token;
    uint tokens;
    uint columns;
};

// Each invocation has four columns of a token. x's binding holds the slots [first_slot, first_slot + count).
#define MIX_EXPERTS_BINDINGS(B) B(0, x) B(1, slots) B(2, weights) B(3, to)
#define MIX_EXPERTS_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, has_weights) C(4, accumulates)
HEADSCOPE_CONSTANTS(MixExpertsConstants, MIX_EXPERTS_CONSTANTS)
struct MixExpertsParams {
    HEADSCOPE_BINDINGS(MIX_EXPERTS_BINDINGS)
    uint tokens;
    uint columns;
    uint choices;
    uint first_slot;
    uint count;
};

// One workgroup a row.
#define SMOOTHED_CROSS_ENTROPY_BINDINGS(B) \
    B(0, logits) B(1, targets) B(2, loss) B(3, nll) B(4, grad_logits) B(5, grad_scale) B(6, prior) B(7, weights)
#define SMOOTHED_CROSS_ENTROPY_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, held)
HEADSCOPE_CONSTANTS(SmoothedCrossEntropyConstants, SMOOTHED_CROSS_ENTROPY_CONSTANTS)
struct SmoothedCrossEntropyParams {
    HEADSCOPE_BINDINGS(SMOOTHED_CROSS_ENTROPY_BINDINGS)
    uint classes;
    uint has_grad;
    uint has_grad_scale;
    uint has_prior;
    uint has_weights;
    uint other_classes;
    float epsilon;
};

// Each invocation has four columns of a row, in every gate. Bits of has: bias, h, lengths, y, gates; in the backward
// grad_y, grad_next_hidden, grad_next_state, lengths; and of both 32 for documents, 64 if the steps go from the end.
#define RECURRENT_STEP_BINDINGS(B) \
    B(0, x)                        \
    B(1, h)                        \
    B(2, bias)                     \
    B(3, hidden) B(4, state) B(5, lengths) B(6, documents) B(7, next_hidden) B(8, next_state) B(9, y) B(10, gates)
#define RECURRENT_STEP_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, gru) C(4, has)
HEADSCOPE_CONSTANTS(RecurrentStepConstants, RECURRENT_STEP_CONSTANTS)
struct RecurrentStepParams {
    HEADSCOPE_BINDINGS(RECURRENT_STEP_BINDINGS)
    uint rows;
    uint columns;
    uint position;
    uint positions;
    uint x_row;
    uint h_row;
    uint hidden_row;
    uint state_row;
    uint next_hidden_row;
    uint next_state_row;
    uint y_row;
    uint gates_row;
};

#define RECURRENT_STEP_BACKWARD_BINDINGS(B) \
    B(0, gates)                             \
    B(1, hidden)                            \
    B(2, state)                             \
    B(3, lengths)                           \
    B(4, documents)                         \
    B(5, grad_y)                            \
    B(6, grad_next_hidden) B(7, grad_next_state) B(8, grad_x) B(9, grad_h) B(10, grad_hidden) B(11, grad_state)
HEADSCOPE_CONSTANTS(RecurrentStepBackwardConstants, RECURRENT_STEP_CONSTANTS)
struct RecurrentStepBackwardParams {
    HEADSCOPE_BINDINGS(RECURRENT_STEP_BACKWARD_BINDINGS)
    uint rows;
    uint columns;
    uint position;
    uint positions;
    uint gates_row;
    uint hidden_row;
    uint state_row;
    uint grad_y_row;
    uint grad_next_hidden_row;
    uint grad_next_state_row;
    uint grad_x_row;
    uint grad_h_row;
    uint grad_hidden_row;
    uint grad_state_row;
};

// One workgroup a part of part_elements.
#define SQUARE_SUM_BINDINGS(B) B(0, x) B(1, out)
struct SquareSumParams {
    HEADSCOPE_BINDINGS(SQUARE_SUM_BINDINGS)
    uint count;
    uint part_elements;
};

#define STEP_CONTROL_BINDINGS(B) B(0, square_sum) B(1, scalars)
struct StepControlParams {
    HEADSCOPE_BINDINGS(STEP_CONTROL_BINDINGS)
    float max_norm;
    float growth_interval;
    float growth;
    float backoff;
    float least;
    float most;
    float one_minus_beta1;
    float one_minus_beta2;
};

// The old tensors are parameter, m and v as they were; working is absent in F32.
#define ADAM_BINDINGS(B) \
    B(0, parameter)      \
    B(1, grad) B(2, m) B(3, v) B(4, scalars) B(5, old_parameter) B(6, old_m) B(7, old_v) B(8, working) B(9, decay)
struct AdamParams {
    HEADSCOPE_BINDINGS(ADAM_BINDINGS)
    uint count;
    uint has_decay;
    float beta1;
    float beta2;
    float epsilon;
    float one_minus_beta1;
    float one_minus_beta2;
};

// One workgroup a row.
#define LOG_SOFTMAX_TOP_K_BINDINGS(B) B(0, logits) B(1, values) B(2, indices)
#define LOG_SOFTMAX_TOP_K_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, kept)
HEADSCOPE_CONSTANTS(LogSoftmaxTopKConstants, LOG_SOFTMAX_TOP_K_CONSTANTS)
struct LogSoftmaxTopKParams {
    HEADSCOPE_BINDINGS(LOG_SOFTMAX_TOP_K_BINDINGS)
    uint classes;
    uint k;
};

// As words of their type's width: one workgroup a row of out, which is outer * inner runs of `words` words that lie
// together. x's binding holds rows [x_first, x_first + x_rows) of rows_in. Steps are x's and out's.
#define GATHER_ROWS_BINDINGS(B) B(0, x) B(1, index) B(2, out)
struct GatherRowsParams {
    HEADSCOPE_BINDINGS(GATHER_ROWS_BINDINGS)
    uint runs;  // of a row: inner ones as often as there are outer ones
    uint inner;
    uint words;       // of a run
    uint run_parts;   // workgroups that share a row's runs
    uint word_parts;  // and each run's words
    uint part_runs;
    uint part_words;  // a multiple of four
    uint row_step[2];
    uint outer_step[2];
    uint inner_step[2];
    uint x_first;
    uint x_rows;
    uint rows_in;
    uint missing;  // the word of a row that does not exist
};

// One workgroup for four columns.
#define BATCH_NORM_BINDINGS(B) \
    B(0, x)                    \
    B(1, lengths) B(2, gain) B(3, bias) B(4, running_mean) B(5, running_variance) B(6, y) B(7, mean) B(8, rstd)
#define BATCH_NORM_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, measures) C(4, has_lengths)
HEADSCOPE_CONSTANTS(BatchNormConstants, BATCH_NORM_CONSTANTS)
struct BatchNormParams {
    HEADSCOPE_BINDINGS(BATCH_NORM_BINDINGS)
    uint rows;
    uint sequence;
    uint columns;
    float epsilon;
    float momentum;
};

#define BATCH_NORM_BACKWARD_BINDINGS(B) \
    B(0, x) B(1, lengths) B(2, gain) B(3, mean) B(4, rstd) B(5, grad_y) B(6, grad_x) B(7, grad_gain) B(8, grad_bias)
#define BATCH_NORM_BACKWARD_CONSTANTS(C) BATCH_NORM_CONSTANTS(C) C(5, has_grad_x)
HEADSCOPE_CONSTANTS(BatchNormBackwardConstants, BATCH_NORM_BACKWARD_CONSTANTS)
struct BatchNormBackwardParams {
    HEADSCOPE_BINDINGS(BATCH_NORM_BACKWARD_BINDINGS)
    uint rows;
    uint sequence;
    uint columns;
    uint accumulate_x;
    uint accumulate_gain;
    uint accumulate_bias;
};

// Tap j of position i is position i + first + j * step. Rows are those of out.
#define UNFOLD_BINDINGS(B) B(0, x) B(1, lengths) B(2, ranges) B(3, out)
#define UNFOLD_CONSTANTS(C) FOURS_CONSTANTS(C) C(3, has_lengths) C(4, has_ranges)
HEADSCOPE_CONSTANTS(UnfoldConstants, UNFOLD_CONSTANTS)
struct UnfoldParams {
    HEADSCOPE_BINDINGS(UNFOLD_BINDINGS)
    uint rows;
    uint inputs;  // positions of x
    uint positions;
    uint channels;
    uint taps;
    int first;
    int step;
};

#define SUM_TAPS_BINDINGS(B) B(0, x) B(1, weights) B(2, lengths) B(3, ranges) B(4, out)
#define SUM_TAPS_CONSTANTS(C) UNFOLD_CONSTANTS(C) C(5, has_weights) C(6, accumulates)
HEADSCOPE_CONSTANTS(SumTapsConstants, SUM_TAPS_CONSTANTS)
struct SumTapsParams {
    HEADSCOPE_BINDINGS(SUM_TAPS_BINDINGS)
    uint rows;
    uint inputs;  // positions of x
    uint positions;
    uint channels;
    uint taps;
    int first;
    int step;
};

#ifdef __cplusplus
}
#endif

#endif
