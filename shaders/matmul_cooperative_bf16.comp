// Products in BF16 with sums in F32 by the device's own matrices: VK_KHR_cooperative_matrix and VK_KHR_shader_bfloat16.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_bfloat16 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#include "params.h"
HEADSCOPE_KERNEL(MatmulParams, MATMUL_BINDINGS, MATMUL_COOPERATIVE_CONSTANTS)
#include "grid.glsl"
#include "round.glsl"
#include "storage.glsl"
#include "product_out.glsl"
#include "cooperative_tiles.glsl"

#define HEADSCOPE_HALF bfloat16_t
#define pair_of(x, y) (to_bf16(x) | to_bf16(y) << 16u)
#include "cooperative_matrices.glsl"
#include "cooperative_product.glsl"
