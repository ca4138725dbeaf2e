// out = x or out += x between F32, F16 and BF16, rounding to nearest even by bits; one invocation four elements of a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_16bit_storage : require
#include "params.h"
layout(push_constant) uniform Push { ConvertParams p; };
#include "grid.glsl"
#include "round.glsl"
#include "strided.glsl"
layout(set = 0, binding = 0) readonly buffer X32 { float x32[]; };
layout(set = 0, binding = 1) readonly buffer X16 { uint16_t x16[]; };
layout(set = 0, binding = 2) buffer Out32 { float to32[]; };
layout(set = 0, binding = 3) buffer Out16 { uint16_t to16[]; };

const uint kTypeF32 = 0u;
const uint kTypeF16 = 1u;

float widen(uint type, uint bits) { return type == kTypeF16 ? from_f16(bits) : from_bf16(bits); }

void convert(uint source, uint target) {
    float value;
    if (p.x_type == kTypeF32) {
        value = x32[p.offset[0] + source];
    } else {
        value = widen(p.x_type, uint(x16[p.offset[1] + source]));
    }
    if (p.out_type == kTypeF32) {
        target += p.offset[2];
        to32[target] = p.accumulate != 0u ? to32[target] + value : value;
    } else {
        target += p.offset[3];
        float sum = p.accumulate != 0u ? widen(p.out_type, uint(to16[target])) + value : value;
        to16[target] = uint16_t(p.out_type == kTypeF16 ? to_f16(sum) : to_bf16(sum));
    }
}

void main() {
    if (element_index() >= p.fours) {
        return;
    }
    uvec4 at = coordinates(element_index());
    uint source = place(at, p.x_strides);
    uint target = place(at, p.out_strides);
    for (uint i = 0u; i < min(p.shape[3] - at.w, 4u); ++i) {
        convert(source + i, target + i);
    }
}
