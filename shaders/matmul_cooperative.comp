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
#include "product_out.glsl"
#include "cooperative_tiles.glsl"

// RoundingModeRTE for 16 bits, by its capability of the same name: a conversion rounds to nearest even, as round.glsl.
spirv_execution_mode(capabilities = [4467], 4462, 16);

#define HEADSCOPE_HALF float16_t
#define pair_of(x, y) packFloat2x16(f16vec2(x, y))
#include "cooperative_matrices.glsl"
#include "cooperative_product.glsl"
