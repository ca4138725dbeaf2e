// Products in F16 with sums in F32 by the device's own matrices: VK_KHR_cooperative_matrix.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_spirv_intrinsics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#include "params.h"
HEADSCOPE_KERNEL(MatmulParams, MATMUL_BINDINGS, MATMUL_COOPERATIVE_CONSTANTS)
#include "grid.glsl"
#include "storage.glsl"

// RoundingModeRTE for 16 bits, by its capability of the same name: a conversion rounds to nearest even, as round.glsl.
spirv_execution_mode(capabilities = [4467], 4462, 16);

#define Pair f16vec2
#include "cooperative_tiles.glsl"

#define HEADSCOPE_UNROLL unroll
#define MatrixA coopmat<float16_t, gl_ScopeSubgroup, kM, kK, gl_MatrixUseA>
#define MatrixB coopmat<float16_t, gl_ScopeSubgroup, kK, kN, gl_MatrixUseB>
#define MatrixC coopmat<float, gl_ScopeSubgroup, kM, kN, gl_MatrixUseAccumulator>
#define zero_matrix() MatrixC(0.0)
#define load_a(matrix, at) coopMatLoad(matrix, staged_a, at, kStride, gl_CooperativeMatrixLayoutRowMajor)
#define load_b(matrix, at) coopMatLoad(matrix, staged_b, at, kStride, gl_CooperativeMatrixLayoutColumnMajor)
#define multiply_add(a, b, sums) sums = coopMatMulAdd(a, b, sums)
#define store_results(sums, at) coopMatStore(sums, results, at, kN, gl_CooperativeMatrixLayoutRowMajor)
#define subgroup() gl_SubgroupID
#define subgroup_lane() gl_SubgroupInvocationID
#define subgroup_barrier() subgroupBarrier()
#define pair_of(x, y) f16vec2(x, y)
#define pair_of_bits(bits) unpackFloat2x16(bits)
#include "cooperative_product.glsl"
