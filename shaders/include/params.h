// The push constants of every kernel, read by GLSL and by C++ alike: 32-bit members only, so that both lay them out the
// same. Each block begins with first_group (a launch may come in parts) and offset, the first element of each binding.
// Strides are in elements; the innermost is 1.
#ifndef HEADSCOPE_SHADER_PARAMS_H
#define HEADSCOPE_SHADER_PARAMS_H

#ifdef __cplusplus
#include <cstdint>
namespace headscope::vulkan {
using uint = std::uint32_t;
#endif

// DropoutRule without its tensors; threshold 0 is the identity.
struct DropoutParams {
    uint threshold;
    uint seed;
    uint site;
    float scale;
};

// out
struct FillParams {
    uint first_group;
    uint offset[1];
    uint fours;
    uint shape[4];
    uint out_strides[3];
    uint bits;
};

// x, out
struct CopyParams {
    uint first_group;
    uint offset[2];
    uint fours;
    uint shape[4];
    uint x_strides[3];
    uint out_strides[3];
};

// x, out
struct ConvertParams {
    uint first_group;
    uint offset[2];
    uint fours;
    uint shape[4];
    uint x_strides[3];
    uint out_strides[3];
};

// a, b, out
struct AddScaledParams {
    uint first_group;
    uint offset[3];
    uint fours;
    uint shape[4];
    uint a_strides[3];
    uint b_strides[3];
    uint out_strides[3];
    float alpha;
    float beta;
};

// x, step, ordinals, y: one workgroup a row of [batch, heads, positions, columns]
struct DropoutKernelParams {
    uint first_group;
    uint offset[4];
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

// a, b, out, bias. Element (i, k) of op(a) is a[offset + batch + i * a_row + k * a_column], and so on: a transpose is a
// pair of strides exchanged.
struct MatmulParams {
    uint first_group;
    uint offset[4];
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

// x, bias, step, ordinals, y
struct BiasActivationParams {
    uint first_group;
    uint offset[5];
    uint first_row;
    uint sequence;
    uint columns;
    DropoutParams dropout;
};

// x, bias, grad_y, step, ordinals, grad_x
struct BiasActivationBackwardParams {
    uint first_group;
    uint offset[6];
    uint first_row;
    uint sequence;
    uint columns;
    DropoutParams dropout;
};

// x, out: sums of rows_per_part rows each; out [parts, columns]
struct SumRowsParams {
    uint first_group;
    uint offset[2];
    uint rows;
    uint columns;
    uint rows_per_part;
    uint parts;
    uint accumulate;
};

// x, residual, gain, bias, step, ordinals, sum, y, mean, rstd
struct AddLayerNormParams {
    uint first_group;
    uint offset[10];
    uint first_row;
    uint sequence;
    uint columns;
    float epsilon;
    DropoutParams dropout;
};

// sum, gain, mean, rstd, grad_y, grad_sum_out, step, ordinals, grad_x, grad_residual
struct AddLayerNormBackwardParams {
    uint first_group;
    uint offset[10];
    uint first_row;
    uint sequence;
    uint columns;
    DropoutParams dropout;
};

// sum, mean, rstd, grad_y, grad_gain, grad_bias: sums of rows_per_part rows each; out [parts, columns]
struct LayerNormGainParams {
    uint first_group;
    uint offset[6];
    uint rows;
    uint columns;
    uint rows_per_part;
    uint parts;
    uint accumulate_gain;
    uint accumulate_bias;
};

// scores, key_lengths, query_offset, weights: one workgroup a few rows
struct MaskedSoftmaxParams {
    uint first_group;
    uint offset[4];
    uint rows;
    uint first_row;
    uint heads;
    uint queries;
    uint keys;
    uint has_lengths;
    uint causal;
    uint has_offset;
};

// weights, grad_weights, grad_scores: one workgroup a few rows
struct MaskedSoftmaxBackwardParams {
    uint first_group;
    uint offset[3];
    uint rows;
    uint keys;
};

// q, key_lengths, query_offset, k, v, step, ordinals, out, log_sums: one workgroup a few queries of a head. Dropout's
// scale follows from its threshold.
struct AttendParams {
    uint first_group;
    uint offset[9];
    uint heads;
    uint queries;
    uint keys;
    uint q_strides[3];
    uint k_strides[3];
    uint v_strides[3];
    uint out_strides[3];
    uint has_lengths;
    uint causal;
    uint has_offset;
    float scale;
    uint drop_threshold;
    uint drop_seed;
    uint drop_site;
};

// out, key_lengths, query_offset, grad_out, log_sums, ordinals, step, rows: one invocation a query
struct AttendBackwardRowsParams {
    uint first_group;
    uint offset[8];
    uint count;
    uint heads;
    uint queries;
    uint keys;
    uint out_strides[3];
    uint grad_strides[3];
    uint has_lengths;
    uint causal;
    uint has_offset;
    uint drop_threshold;
    uint drop_seed;
    uint drop_site;
};

// q, k, v, grad_out, rows, grad_q: one workgroup a few queries of a head
struct AttendBackwardQueriesParams {
    uint first_group;
    uint offset[6];
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

// q, k, v, grad_out, rows, grad_k, grad_v: one workgroup a few keys of a head
struct AttendBackwardKeysParams {
    uint first_group;
    uint offset[7];
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

// weights, key_lengths, query_offset, rules, out: one workgroup a row. The rules are those of EditAttention.
struct EditAttentionParams {
    uint first_group;
    uint offset[5];
    uint first_row;
    uint heads;
    uint queries;
    uint keys;
    uint has_lengths;
    uint causal;
    uint has_offset;
    int off;
    int uniform_weight;
};

// x, position, cache: one workgroup a row of x
struct CacheAppendParams {
    uint first_group;
    uint offset[3];
    uint heads;
    uint sequence;
    uint depth;
    uint capacity;
    uint x_strides[3];
    uint cache_strides[3];
};

// x, key_lengths, query_offset, out: one invocation four elements of one of the rows [first_key, first_key + rows) of
// each head
struct MaskKeysParams {
    uint first_group;
    uint offset[4];
    uint heads;
    uint queries;
    uint keys;
    uint first_key;
    uint rows;
    uint depth;
    uint count;  // of rows, in all heads
    uint x_strides[3];
    uint has_lengths;
    uint causal;
    uint has_offset;
};

// ids, table, positions, first, out: one workgroup a row. The table's binding holds rows
// [table_first, table_first + table_rows) of `vocabulary`.
struct EmbedParams {
    uint first_group;
    uint offset[5];
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

// ids, order, grad_out, grad_table: `slices` workgroups an entry of the order. grad_out's binding holds the flat
// positions [grad_first, grad_first + grad_rows) of `count`, grad_table's the rows [table_first, table_first +
// table_rows).
struct EmbedBackwardParams {
    uint first_group;
    uint offset[4];
    uint count;
    uint grad_first;
    uint grad_rows;
    uint columns;
    uint table_first;
    uint table_rows;
    uint slices;
    float scale;
};

// logits, targets, loss, nll, grad_logits, grad_scale: one workgroup a row
struct SmoothedCrossEntropyParams {
    uint first_group;
    uint offset[6];
    uint classes;
    uint has_grad;
    uint has_grad_scale;
    uint other_classes;
    float epsilon;
};

// x, out: one workgroup a part of part_elements
struct SquareSumParams {
    uint first_group;
    uint offset[2];
    uint count;
    uint part_elements;
};

// square_sum, scalars
struct StepControlParams {
    uint first_group;
    uint offset[2];
    float max_norm;
    float growth_interval;
    float growth;
    float backoff;
    float least;
    float most;
};

// parameter, grad, m, v, scalars; parameter, m and v as they were; working
struct AdamParams {
    uint first_group;
    uint offset[9];
    uint count;
    float beta1;
    float beta2;
    float epsilon;
    float one_minus_beta1;
    float one_minus_beta2;
};

// logits, values, indices: one workgroup a row
struct LogSoftmaxTopKParams {
    uint first_group;
    uint offset[3];
    uint classes;
    uint k;
};

// x, index, out as words of their type's width: one workgroup a row of out, which is outer * inner runs of `words`
// words that lie together. x's binding holds rows [x_first, x_first + x_rows) of rows_in. Steps are x's and out's.
struct GatherRowsParams {
    uint first_group;
    uint offset[3];
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

#ifdef __cplusplus
}
#endif

#endif
