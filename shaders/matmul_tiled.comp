// The product of matmul.comp, in the same order of sums, by workgroups of 16 x 16 invocations that share their loads:
// tiles of both operands are in shared memory, and an invocation keeps kRows x kColumns outputs in registers, as vec4s
// 64 apart, so that neighbours read neighbouring words. The next tiles are loaded while the current ones are
// multiplied.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params.h"
HEADSCOPE_KERNEL(MatmulParams, MATMUL_BINDINGS, MATMUL_TILED_CONSTANTS)
#include "grid.glsl"
#include "operands.glsl"
#include "product_out.glsl"
#include "round.glsl"
#include "storage.glsl"
layout(constant_id = constant_rows) const uint kRows = 4u;     // 4 or 8
layout(constant_id = constant_columns) const uint kColumns = 4u;  // 4 or 8
layout(constant_id = constant_rounding) const uint kRounding = 0u;
layout(constant_id = constant_a_loads) const uint kALoads = 0u;  // kAlongK, kInFours; and kOutInFours
layout(constant_id = constant_b_loads) const uint kBLoads = 0u;

const uint kAlongK = 1u;
const uint kInFours = 2u;
const bool kOutInFours = (kALoads & 4u) != 0u;
const uint kSide = 16u;
const uint kDepth = 16u;  // of k in a tile
const uint kTileM = kSide * kRows;
const uint kTileN = kSide * kColumns;
// A tile is [k][row]; its rows are padded by four words, for fewer bank conflicts when filled along k.
const uint kStrideM = kTileM + 4u;
const uint kStrideN = kTileN + 4u;
shared float a_tile[kDepth * kStrideM];
shared float b_tile[kDepth * kStrideN];

// One element or vector of a tile: its row or column and its k within the tile.
struct Place {
    uint outer;
    uint k;
};

// The place of an invocation's load number `turn` for a tile of `size` rows or columns. Neighbours load neighbours,
// whichever way the operand is contiguous.
Place place_of(uint turn, uint loads, uint size) {
    uint unit = turn * kSide * kSide + lane();
    uint width = (loads & kInFours) != 0u ? 4u : 1u;
    if ((loads & kAlongK) != 0u) {
        return Place(unit / (kDepth / width), unit % (kDepth / width) * width);
    }
    return Place(unit % (size / width) * width, unit / (size / width));
}

// Of each operand an invocation loads as many elements as it has rows or columns, since kDepth is kSide.
const uint kATurns = (kALoads & kInFours) != 0u ? kRows / 4u : kRows;
const uint kBTurns = (kBLoads & kInFours) != 0u ? kColumns / 4u : kColumns;

void load_a(uint base, uint row, uint k, out float loaded[kRows]) {
    [[unroll]] for (uint turn = 0u; turn < kATurns; ++turn) {
        Place at = place_of(turn, kALoads, kTileM);
        bool inside = row + at.outer < p.m && k + at.k < p.k;
        uint index = base + (row + at.outer) * p.a_row + (k + at.k) * p.a_column;
        if ((kALoads & kInFours) == 0u) {
            loaded[turn] = inside ? a_one(index) : 0.0;
            continue;
        }
        vec4 value = inside ? a_four(index / 4u) : vec4(0.0);
        [[unroll]] for (uint d = 0u; d < 4u; ++d) {
            loaded[4u * turn + d] = value[d];
        }
    }
}

void load_b(uint base, uint column, uint k, out float loaded[kColumns]) {
    [[unroll]] for (uint turn = 0u; turn < kBTurns; ++turn) {
        Place at = place_of(turn, kBLoads, kTileN);
        bool inside = column + at.outer < p.n && k + at.k < p.k;
        uint index = base + (column + at.outer) * p.b_column + (k + at.k) * p.b_row;
        if ((kBLoads & kInFours) == 0u) {
            loaded[turn] = inside ? b_one(index) : 0.0;
            continue;
        }
        vec4 value = inside ? b_four(index / 4u) : vec4(0.0);
        [[unroll]] for (uint d = 0u; d < 4u; ++d) {
            loaded[4u * turn + d] = value[d];
        }
    }
}

// Where element i of an invocation's loads goes.
uint place_in_tile(uint i, uint loads, uint size, uint stride) {
    bool fours = (loads & kInFours) != 0u;
    Place at = place_of(fours ? i / 4u : i, loads, size);
    uint d = fours ? i % 4u : 0u;
    return (loads & kAlongK) != 0u ? (at.k + d) * stride + at.outer : at.k * stride + at.outer + d;
}

void stage(float a_loaded[kRows], float b_loaded[kColumns]) {
    [[unroll]] for (uint i = 0u; i < kRows; ++i) {
        a_tile[place_in_tile(i, kALoads, kTileM, kStrideM)] = round_operand(kRounding, a_loaded[i]);
    }
    [[unroll]] for (uint i = 0u; i < kColumns; ++i) {
        b_tile[place_in_tile(i, kBLoads, kTileN, kStrideN)] = round_operand(kRounding, b_loaded[i]);
    }
}

// The place in a tile of an invocation's row or column i; `me` counts invocations along it.
uint spread(uint me, uint i) { return 4u * kSide * (i / 4u) + 4u * me + i % 4u; }

void main() {
    uint tiles_m = (p.m + kTileM - 1u) / kTileM;
    uint tiles_n = (p.n + kTileN - 1u) / kTileN;
    uint batch = group_index() / (tiles_m * tiles_n);
    uint tile = group_index() - batch * tiles_m * tiles_n;
    uvec2 at = place_of_tile(tile, tiles_m, tiles_n);
    uint row = at.x * kTileM;
    uint column = at.y * kTileN;
    uint outer = batch / p.batch_inner;
    uint inner = batch - outer * p.batch_inner;
    uint a_base = p.offset[binding_a] + outer * p.a_batch[0] + inner * p.a_batch[1];
    uint b_base = p.offset[binding_b] + outer * p.b_batch[0] + inner * p.b_batch[1];
    uint me_m = lane() / kSide;
    uint me_n = lane() % kSide;

    float sums[kRows][kColumns];
    [[unroll]] for (uint i = 0u; i < kRows; ++i) {
        [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
            sums[i][j] = 0.0;
        }
    }
    float a_loaded[kRows];
    float b_loaded[kColumns];
    load_a(a_base, row, 0u, a_loaded);
    load_b(b_base, column, 0u, b_loaded);
    for (uint k = 0u; k < p.k; k += kDepth) {
        stage(a_loaded, b_loaded);
        barrier();
        load_a(a_base, row, k + kDepth, a_loaded);
        load_b(b_base, column, k + kDepth, b_loaded);
        for (uint d = 0u; d < kDepth; ++d) {
            float b_values[kColumns];
            [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
                b_values[j] = b_tile[d * kStrideN + spread(me_n, j)];
            }
            [[unroll]] for (uint i = 0u; i < kRows; ++i) {
                float value = a_tile[d * kStrideM + spread(me_m, i)];
                [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
                    sums[i][j] = fma(value, b_values[j], sums[i][j]);
                }
            }
        }
        barrier();
    }
    uint out_base = p.offset[binding_out] + outer * p.out_batch[0] + inner * p.out_batch[1];
    float added[kColumns];
    [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
        added[j] = bias_of(column + spread(me_n, j));
    }
    [[unroll]] for (uint i = 0u; i < kRows; ++i) {
        uint to_row = row + spread(me_m, i);
        [[unroll]] for (uint j = 0u; j < kColumns; j += 4u) {
            uint to_column = column + spread(me_n, j);
            uint target = out_base + to_row * p.out_row + to_column;
            if (kOutInFours && to_row < p.m && to_column < p.n) {
                store_four(target, vec4(sums[i][j], sums[i][j + 1u], sums[i][j + 2u], sums[i][j + 3u]),
                           vec4(added[j], added[j + 1u], added[j + 2u], added[j + 3u]));
            }
            [[unroll]] for (uint one = 0u; one < 4u; ++one) {
                if (!kOutInFours && to_row < p.m && to_column + one < p.n) {
                    store(target + one, sums[i][j + one], added[j + one]);
                }
            }
        }
    }
}
