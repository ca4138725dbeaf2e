// Matrices of plain numbers for cooperative_memory.glsl, in place of cooperative_device.glsl: any device can try how
// heads are staged, masked and stored. A subgroup is kSubgroupSize neighbours, of which each keeps every
// kSubgroupSize-th entry of a sum.
#include "round.glsl"

// Unrolled they would take a minute to compile on a CPU's Vulkan.
#define HEADSCOPE_UNROLL dont_unroll

uint subgroup() { return lane() / kSubgroupSize; }
uint subgroup_lane() { return lane() % kSubgroupSize; }
void subgroup_barrier() { barrier(); }  // this one is no subgroup of the device's
uint pair_of(float x, float y) { return to_f16(x) | (to_f16(y) << 16u); }

// Entries of an invocation: of 16 x 8 among 8, since a structure's array cannot depend on what is specialised.
const uint kOwn = 16u;

// Where an operand lies, in F16: that of row i and term t is i * row_step + t * term_step after the first.
struct MatrixA { uint first; uint row_step; uint term_step; };
struct MatrixB { uint first; uint row_step; uint term_step; };
struct MatrixC { float own[kOwn]; };

MatrixC zero_matrix() {
    MatrixC sums;
    [[dont_unroll]] for (uint i = 0u; i < kOwn; ++i) {
        sums.own[i] = 0.0;
    }
    return sums;
}

void load_a(out MatrixA matrix, uint at, uint pitch) { matrix = MatrixA(2u * at, 2u * pitch, 1u); }
void load_b(out MatrixB matrix, uint at, uint pitch) { matrix = MatrixB(2u * at, 1u, 2u * pitch); }
void load_a_across(out MatrixA matrix, uint at, uint pitch) { matrix = MatrixA(2u * at, 1u, 2u * pitch); }
void load_b_across(out MatrixB matrix, uint at, uint pitch) { matrix = MatrixB(2u * at, 2u * pitch, 1u); }

float half_at(uint index) { return from_f16(memory[index / 2u] >> (16u * (index % 2u)) & 0xffffu); }

void multiply_add(MatrixA a, MatrixB b, inout MatrixC sums) {
    [[dont_unroll]] for (uint i = 0u; i < kOwn; ++i) {
        uint entry = i * kSubgroupSize + subgroup_lane();
        uint a_at = a.first + entry / kN * a.row_step;
        uint b_at = b.first + entry % kN * b.row_step;
        float sum = sums.own[i];
        // Not one by one: llvmpipe leaves a kernel whose loops have run 65,535 times in all.
        [[dont_unroll]] for (uint first = 0u; first < kK; first += 4u) {
            [[unroll]] for (uint x = 0u; x < 4u; ++x) {
                uint term = first + x;
                sum = fma(half_at(a_at + term * a.term_step), half_at(b_at + term * b.term_step), sum);
            }
        }
        sums.own[i] = sum;
    }
}

void store_sums(MatrixC sums, uint at, uint pitch) {
    [[dont_unroll]] for (uint i = 0u; i < kOwn; ++i) {
        uint entry = i * kSubgroupSize + subgroup_lane();
        memory[at + entry / kN * pitch + entry % kN] = floatBitsToUint(sums.own[i]);
    }
}
