// The gradients of attention of short sentences on the device's own matrices, in one pass: a workgroup has a head.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_spirv_intrinsics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#include "params.h"
HEADSCOPE_KERNEL(AttendBackwardCooperativeParams, ATTEND_BACKWARD_COOPERATIVE_BINDINGS, ATTEND_COOPERATIVE_CONSTANTS)
#include "dropout.glsl"
#include "grid.glsl"
#include "heads.glsl"
#include "mask.glsl"
#include "storage.glsl"

const uint kTables = 2u;
#include "cooperative_memory.glsl"
#include "cooperative_device.glsl"
#include "cooperative_attend_backward.glsl"
