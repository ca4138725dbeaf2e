// Attention of short sentences on the device's own matrices: a workgroup has a head.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_spirv_intrinsics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#include "params.h"
HEADSCOPE_KERNEL(AttendParams, ATTEND_BINDINGS, ATTEND_COOPERATIVE_CONSTANTS)
#include "attend.glsl"
#include "storage.glsl"

const uint kTables = 1u;
#include "cooperative_memory.glsl"
#include "cooperative_device.glsl"
#include "cooperative_attend.glsl"
