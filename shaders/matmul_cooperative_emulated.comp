// The tiles of matmul_cooperative.comp with matrices of plain numbers: any device can try how they are staged, cut and
// stored. A subgroup is kSubgroupSize neighbours, of which each keeps every kSubgroupSize-th entry of a sum.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params.h"
HEADSCOPE_KERNEL(MatmulParams, MATMUL_BINDINGS, MATMUL_COOPERATIVE_CONSTANTS)
#include "grid.glsl"
#include "round.glsl"
#include "storage.glsl"

#define Pair uint
#include "cooperative_tiles.glsl"

// Unrolled they would take a minute to compile on a CPU's Vulkan.
#define HEADSCOPE_UNROLL dont_unroll

uint subgroup() { return lane() / kSubgroupSize; }
uint subgroup_lane() { return lane() % kSubgroupSize; }
void subgroup_barrier() { barrier(); }  // this one is no subgroup of the device's
uint pair_of(float x, float y) { return to_f16(x) | (to_f16(y) << 16u); }
uint pair_of_bits(uint bits) { return bits; }

// Entries of an invocation: of 16 x 8 among 8, since a structure's array cannot depend on what is specialised.
const uint kOwn = 16u;

struct MatrixA { uint at; };  // where it is staged
struct MatrixB { uint at; };
struct MatrixC { float own[kOwn]; };

MatrixC zero_matrix() {
    MatrixC sums;
    [[dont_unroll]] for (uint i = 0u; i < kOwn; ++i) {
        sums.own[i] = 0.0;
    }
    return sums;
}

void load_a(out MatrixA matrix, uint at) { matrix.at = at; }
void load_b(out MatrixB matrix, uint at) { matrix.at = at; }

void multiply_add(MatrixA a_part, MatrixB b_part, inout MatrixC sums) {
    [[dont_unroll]] for (uint i = 0u; i < kOwn; ++i) {
        uint entry = i * kSubgroupSize + subgroup_lane();
        uint a_from = a_part.at + entry / kN * kStride;
        uint b_from = b_part.at + entry % kN * kStride;
        // Unrolled alone: llvmpipe leaves a kernel whose loops have run 65,535 times in all.
        [[unroll]] for (uint pair = 0u; pair < kK / 2u; ++pair) {
            uint x = staged_a[a_from + pair];
            uint y = staged_b[b_from + pair];
            sums.own[i] = fma(from_f16(x & 0xffffu), from_f16(y & 0xffffu), sums.own[i]);
            sums.own[i] = fma(from_f16(x >> 16u), from_f16(y >> 16u), sums.own[i]);
        }
    }
}

void store_results(MatrixC sums, uint at) {
    [[dont_unroll]] for (uint i = 0u; i < kOwn; ++i) {
        results[at + i * kSubgroupSize + subgroup_lane()] = sums.own[i];
    }
}
#include "cooperative_product.glsl"
