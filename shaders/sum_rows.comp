// out[part, c] = the sum of x[r, c] over the part's rows in order; each invocation has four columns.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(SumRowsParams, SUM_ROWS_BINDINGS, FOURS_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "storage.glsl"
HEADSCOPE_READ_FOURS(binding_x, x)
HEADSCOPE_WRITE_FLOATS(binding_out, to)

void main() {
    uint fours = (p.columns + 3u) / 4u;
    uint part = element_index() / fours;
    if (part >= p.parts) {
        return;
    }
    uint column = 4u * (element_index() - part * fours);
    uint count = p.columns - column;
    uint first = part * p.rows_per_part;
    uint last = min(first + p.rows_per_part, p.rows);
    uint at = p.offset[binding_x] + first * p.columns + column;
    vec4 sum = vec4(0.0);
    for (uint row = first; row < last; ++row) {
        sum += x_at(at, count);
        at += p.columns;
    }
    uint target = p.offset[binding_out] + part * p.columns + column;
    to_put(target, count, p.accumulate != 0u ? to_at(target, count) + sum : sum);
}
