// out[b, i, tap, c] = x[b, i + first + tap * step, c], 0 where there is no such position; each invocation has four
// channels of one tap.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(UnfoldParams, UNFOLD_BINDINGS, UNFOLD_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "storage.glsl"
#include "taps.glsl"
HEADSCOPE_READ_WORDS(binding_x, x)
HEADSCOPE_WRITE_WORDS(binding_out, to)

void main() {
    uint fours = (p.channels + 3u) / 4u;
    uint tap_of_row = element_index() / fours;
    uint row = tap_of_row / p.taps;
    if (row >= p.rows) {
        return;
    }
    uint channel = 4u * (element_index() - tap_of_row * fours);
    uint count = p.channels - channel;
    int from = row_of_tap(row, tap_of_row - row * p.taps);
    uvec4 value = uvec4(0u);
    if (from >= 0) {
        value = x_at(p.offset[binding_x] + uint(from) * p.channels + channel, count);
    }
    to_put(p.offset[binding_out] + tap_of_row * p.channels + channel, count, value);
}
