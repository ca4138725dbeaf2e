// The tiles of matmul_cooperative.comp and matmul_cooperative_bf16.comp with matrices of plain numbers: any device can try
// how they are staged, cut and stored. A subgroup is kSubgroupSize neighbours, of which each keeps every
// kSubgroupSize-th entry of a sum.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params.h"
HEADSCOPE_KERNEL(MatmulParams, MATMUL_BINDINGS, MATMUL_COOPERATIVE_CONSTANTS)
#include "grid.glsl"
#include "round.glsl"
#include "storage.glsl"
#include "product_out.glsl"
#include "cooperative_tiles.glsl"

// Unrolled they would take a minute to compile on a CPU's Vulkan.
#define HEADSCOPE_UNROLL dont_unroll

uint subgroup() { return lane() / kSubgroupSize; }
uint subgroup_lane() { return lane() % kSubgroupSize; }
void subgroup_barrier() { barrier(); }  // this one is no subgroup of the device's
uint pair_of(float x, float y) {
    return kBf16Operands ? to_bf16(x) | to_bf16(y) << 16u : to_f16(x) | to_f16(y) << 16u;
}
vec2 of_pair(uint bits) {
    return kBf16Operands ? uintBitsToFloat(uvec2(bits << 16u, bits & 0xffff0000u))
                         : vec2(from_f16(bits & 0xffffu), from_f16(bits >> 16u));
}

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
        [[unroll]] for (uint eight = 0u; eight < kK / 8u; ++eight) {
            uvec4 x = staged[a_from + eight];
            uvec4 y = staged[b_from + eight];
            [[unroll]] for (uint pair = 0u; pair < 4u; ++pair) {
                vec2 terms = of_pair(x[pair]);
                vec2 factors = of_pair(y[pair]);
                sums.own[i] = fma(terms.x, factors.x, sums.own[i]);
                sums.own[i] = fma(terms.y, factors.y, sums.own[i]);
            }
        }
    }
}

void store_results(MatrixC sums, uint at) {
    [[dont_unroll]] for (uint i = 0u; i < kOwn; ++i) {
        uint entry = i * kSubgroupSize + subgroup_lane();
        staged[at + entry / 4u][entry % 4u] = floatBitsToUint(sums.own[i]);
    }
}

void put_matrix(MatrixC sums, uint at) {
    [[dont_unroll]] for (uint i = 0u; i < kOwn; ++i) {
        uint entry = i * kSubgroupSize + subgroup_lane();
        store(at + entry / kN * p.out_row + entry % kN, sums.own[i], 0.0);
    }
}
#include "cooperative_product.glsl"
