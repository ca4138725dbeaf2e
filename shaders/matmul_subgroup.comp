// The product of matmul.comp, in the same order of sums, by a subgroup: of its kRows x (kColumns * lanes) outputs every
// lane has its own columns in registers. The lanes load b for their columns, and a once for all, exchanged by shuffles.
// For devices whose loads cost more than their arithmetic, such as software devices. The dispatcher ensures that a
// workgroup is one subgroup with kRows lanes, half or a fourth of that.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#include "params.h"
HEADSCOPE_KERNEL(MatmulParams, MATMUL_BINDINGS, MATMUL_SUBGROUP_CONSTANTS)
#include "grid.glsl"
#include "round.glsl"
#include "storage.glsl"
layout(constant_id = constant_rows) const uint kRows = 32u;
layout(constant_id = constant_columns) const uint kColumns = 4u;  // of each lane
layout(constant_id = constant_rounding) const uint kRounding = 0u;
layout(constant_id = constant_along) const uint kAlong = 0u;  // kAAlongK, kBAlongK
layout(constant_id = constant_fours) const uint kFours = 0u;  // kAFours, kBFours, kOutFours, kWholeFours
#include "operands.glsl"
#include "product_out.glsl"

const bool kAAlongK = (kAlong & 1u) != 0u;
const bool kBAlongK = (kAlong & 2u) != 0u;
// Whether all groups of four neighbours of an operand, along its contiguous dimension, are aligned and complete.
const bool kAFours = (kFours & 1u) != 0u;
const bool kBFours = (kFours & 2u) != 0u;
const bool kOutFours = (kFours & 4u) != 0u;
const bool kWholeFours = (kFours & 8u) != 0u;  // k is a multiple of four
const uint kLanes = gl_WorkGroupSize.x;
const uint kALoads = kRows / kLanes;        // of a lane for four steps of k
const uint kStepsALoad = 4u / kALoads;      // of k in one load, if they are along the rows
const uint kQuads = kRows / 4u;

// Four neighbours of an operand, of which the first `count` exist, else 0.
vec4 load_a(uint at, uint count) {
    vec4 value = vec4(0.0);
    if (kAFours) {
        if (kWholeFours || count != 0u) {
            value = a_four(at / 4u);
        }
        return round_operand(kRounding, value);
    }
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
        if (i < count) {
            value[i] = a_one(at + i);
        }
    }
    return round_operand(kRounding, value);
}

vec4 load_b(uint at, uint count) {
    vec4 value = vec4(0.0);
    if (kBFours) {
        if (kWholeFours || count != 0u) {
            value = b_four(at / 4u);
        }
        return round_operand(kRounding, value);
    }
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
        if (i < count) {
            value[i] = b_one(at + i);
        }
    }
    return round_operand(kRounding, value);
}

// The column of a lane's output j relative to the block, in groups of four.
uint column_of(uint me, uint j) { return 4u * (me + kLanes * (j / 4u)) + j % 4u; }

void main() {
    uint blocks_m = (p.m + kRows - 1u) / kRows;
    uint blocks_n = (p.n + kColumns * kLanes - 1u) / (kColumns * kLanes);
    uint batch = group_index() / (blocks_m * blocks_n);
    uint block = group_index() - batch * blocks_m * blocks_n;
    uint row = block / blocks_n * kRows;
    uint column = block % blocks_n * kColumns * kLanes;
    uint outer = batch / p.batch_inner;
    uint inner = batch - outer * p.batch_inner;
    uint a_base = p.offset[binding_a] + outer * p.a_batch[0] + inner * p.a_batch[1];
    uint b_base = p.offset[binding_b] + outer * p.b_batch[0] + inner * p.b_batch[1];
    uint me = gl_SubgroupInvocationID;

    // Where the lane's vec4s start at k = 0. For a: each load is a row, or four rows of one of kStepsALoad of k.
    uint a_row = min(row + 4u * (me % kQuads), p.m - 1u);
    uint a_at[kALoads];
    [[unroll]] for (uint load = 0u; load < kALoads; ++load) {
        a_at[load] = a_base + (kAAlongK ? min(row + load * kLanes + me, p.m - 1u) : a_row) * p.a_row;
    }
    // For b: each load is a column, or four columns of one k.
    uint b_column[kColumns];
    [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
        b_column[j] = min(column + column_of(me, kBAlongK ? j : 4u * (j / 4u)), p.n - 1u);
    }
    float sums[kRows][kColumns];
    [[unroll]] for (uint i = 0u; i < kRows; ++i) {
        [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
            sums[i][j] = 0.0;
        }
    }
    for (uint k = 0u; k < p.k; k += 4u) {
        uint left = p.k - k;
        vec4 a_values[kALoads];
        vec4 b_values[kColumns];  // along k: [column], else [4 * (column / 4) + k]
        [[unroll]] for (uint load = 0u; load < kALoads; ++load) {
            uint step = load * kStepsALoad + me / kQuads;
            uint count = kAAlongK ? left : step < left ? p.m - a_row : 0u;
            a_values[load] = load_a(a_at[load] + (k + (kAAlongK ? 0u : step)) * p.a_column, count);
        }
        [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
            uint step = kBAlongK ? 0u : j % 4u;
            uint count = kBAlongK ? left : step < left ? p.n - b_column[j] : 0u;
            b_values[j] = load_b(b_base + b_column[j] * p.b_column + (k + step) * p.b_row, count);
        }
        [[unroll]] for (uint i = 0u; i < kRows; ++i) {
            [[unroll]] for (uint d = 0u; d < 4u; ++d) {
                float value = kAAlongK ? subgroupShuffle(a_values[i / kLanes][d], i % kLanes)
                                       : subgroupShuffle(a_values[d / kStepsALoad][i % 4u],
                                                         d % kStepsALoad * kQuads + i / 4u);
                [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
                    float other = kBAlongK ? b_values[j][d] : b_values[4u * (j / 4u) + d][j % 4u];
                    sums[i][j] = fma(value, other, sums[i][j]);
                }
            }
        }
    }
    uint out_base = p.offset[binding_out] + outer * p.out_batch[0] + inner * p.out_batch[1];
    float added[kColumns];
    [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
        added[j] = bias_of(column + column_of(me, j));
    }
    // Storing sums is more code than computing them, and slow to compile: it exists once, in a loop over rows.
    vec4 kept[kRows * kColumns / 4u];
    [[unroll]] for (uint i = 0u; i < kRows; ++i) {
        [[unroll]] for (uint j = 0u; j < kColumns; j += 4u) {
            kept[(i * kColumns + j) / 4u] = vec4(sums[i][j], sums[i][j + 1u], sums[i][j + 2u], sums[i][j + 3u]);
        }
    }
    uint rows = min(kRows, p.m - row);
    [[dont_unroll]] for (uint i = 0u; i < rows; ++i) {
        [[unroll]] for (uint j = 0u; j < kColumns; j += 4u) {
            uint to_column = column + column_of(me, j);
            uint target = out_base + (row + i) * p.out_row + to_column;
            vec4 four = kept[(i * kColumns + j) / 4u];
            if (kOutFours && to_column < p.n) {
                store_four(target, four, vec4(added[j], added[j + 1u], added[j + 2u], added[j + 3u]));
            }
            [[unroll]] for (uint one = 0u; one < 4u; ++one) {
                if (!kOutFours && to_column + one < p.n) {
                    store(target + one, four[one], added[j + one]);
                }
            }
        }
    }
}
