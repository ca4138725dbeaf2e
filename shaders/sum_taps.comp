// out[b, i, c] = the sum over taps of x[b, i + first + tap * step, tap, c], or of weights[tap, c] times the same without
// taps of its own; each invocation has four channels.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(SumTapsParams, SUM_TAPS_BINDINGS, SUM_TAPS_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "storage.glsl"
#include "taps.glsl"
layout(constant_id = constant_has_weights) const bool kHasWeights = false;
layout(constant_id = constant_accumulates) const bool kAccumulates = false;
HEADSCOPE_READ_FOURS(binding_x, x)
HEADSCOPE_READ_FLOATS(binding_weights, weights)
HEADSCOPE_WRITE_FOURS(binding_out, to)

void main() {
    uint fours = (p.channels + 3u) / 4u;
    uint row = element_index() / fours;
    if (row >= p.rows) {
        return;
    }
    uint channel = 4u * (element_index() - row * fours);
    uint count = p.channels - channel;
    vec4 sum = vec4(0.0);
    for (uint tap = 0u; tap < p.taps; ++tap) {
        int from = row_of_tap(row, tap);
        if (from >= 0) {
            uint row_of_x = kHasWeights ? uint(from) : uint(from) * p.taps + tap;
            vec4 value = x_at(p.offset[binding_x] + row_of_x * p.channels + channel, count);
            if (kHasWeights) {
                value *= weights_at(p.offset[binding_weights] + tap * p.channels + channel, count);
            }
            sum += value;
        }
    }
    uint target = p.offset[binding_out] + row * p.channels + channel;
    if (kAccumulates) {
        sum += to_at(target, count);
    }
    to_put(target, count, sum);
}
