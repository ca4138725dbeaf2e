// out[part, c] = the sum of x[r, c] over the part's rows, one invocation a column, rows in order.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { SumRowsParams p; };
#include "grid.glsl"
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) buffer Out { float to[]; };

void main() {
    uint index = element_index();
    uint part = index / p.columns;
    if (part >= p.parts) {
        return;
    }
    uint column = index - part * p.columns;
    uint first = part * p.rows_per_part;
    uint last = min(first + p.rows_per_part, p.rows);
    uint at = p.offset[0] + first * p.columns + column;
    float sum = 0.0;
    for (uint row = first; row < last; ++row) {
        sum += x[at];
        at += p.columns;
    }
    uint target = p.offset[1] + index;
    to[target] = p.accumulate != 0u ? to[target] + sum : sum;
}
