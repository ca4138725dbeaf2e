// attend_cooperative.comp with matrices of plain numbers, for any device.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params.h"
HEADSCOPE_KERNEL(AttendParams, ATTEND_BINDINGS, ATTEND_COOPERATIVE_CONSTANTS)
#include "attend.glsl"
#include "storage.glsl"

const uint kTables = 1u;
#include "cooperative_memory.glsl"
#include "cooperative_emulated.glsl"
#include "cooperative_attend.glsl"
