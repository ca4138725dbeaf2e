// The gates of an LSTM or GRU in one time step; each invocation has four columns of a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(RecurrentStepParams, RECURRENT_STEP_BINDINGS, RECURRENT_STEP_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "recurrent.glsl"
#include "storage.glsl"
const bool kHasBias = (kHas & 1u) != 0u;
const bool kHasH = (kHas & 2u) != 0u;
const bool kHasLengths = (kHas & 4u) != 0u;
const bool kHasY = (kHas & 8u) != 0u;
const bool kHasGates = (kHas & 16u) != 0u;
HEADSCOPE_READ_FOURS(binding_x, x)
HEADSCOPE_READ_FOURS(binding_h, h)
HEADSCOPE_READ_FLOATS(binding_bias, bias)
HEADSCOPE_READ_FOURS(binding_hidden, hidden)
HEADSCOPE_READ_FLOATS(binding_state, state)
HEADSCOPE_WRITE_FOURS(binding_next_hidden, next_hidden)
HEADSCOPE_WRITE_FLOATS(binding_next_state, next_state)
HEADSCOPE_WRITE_FOURS(binding_y, y)
HEADSCOPE_WRITE_FOURS(binding_gates, gates)

void main() {
    uint row = element_index() / fours_in_row();
    if (row >= p.rows) {
        return;
    }
    uint column = 4u * (element_index() - row * fours_in_row());
    uint count = p.columns - column;
    bool goes = goes_on(kHasLengths, row);
    bool stops = goes && ends(row);
    vec4 inputs[4];
    vec4 recurrent[4];  // a of the op
    [[unroll]] for (uint gate = 0u; gate < kGates; ++gate) {
        uint at = gate * p.columns + column;
        inputs[gate] = x_at(p.offset[binding_x] + row * p.x_row + at, count);
        recurrent[gate] = kHasH ? h_at(p.offset[binding_h] + row * p.h_row + at, count) : vec4(0.0);
        if (kHasBias) {
            recurrent[gate] += bias_at(p.offset[binding_bias] + at, count);
        }
    }
    vec4 hidden = hidden_at(p.offset[binding_hidden] + row * p.hidden_row + column, count);
    vec4 kept[4];
    [[unroll]] for (uint gate = 0u; gate < 2u; ++gate) {
        kept[gate] = sigmoid(inputs[gate] + recurrent[gate]);
    }
    vec4 next;
    if (kGru) {
        kept[2] = squash(inputs[2] + kept[0] * recurrent[2]);
        kept[3] = recurrent[2];
        next = (1.0 - kept[1]) * kept[2] + kept[1] * hidden;
    } else {
        kept[2] = squash(inputs[2] + recurrent[2]);
        kept[3] = sigmoid(inputs[3] + recurrent[3]);
        vec4 state = state_at(p.offset[binding_state] + row * p.state_row + column, count);
        vec4 next_state = kept[1] * state + kept[0] * kept[2];
        next = kept[3] * squash(next_state);
        next_state_put(p.offset[binding_next_state] + row * p.next_state_row + column, count,
                       mix(mix(state, next_state, bvec4(goes)), vec4(0.0), bvec4(stops)));
    }
    next_hidden_put(p.offset[binding_next_hidden] + row * p.next_hidden_row + column, count,
                    mix(mix(hidden, next, bvec4(goes)), vec4(0.0), bvec4(stops)));
    if (kHasY) {
        y_put(p.offset[binding_y] + row * p.y_row + column, count, mix(vec4(0.0), next, bvec4(goes)));
    }
    if (kHasGates) {
        [[unroll]] for (uint gate = 0u; gate < 4u; ++gate) {
            gates_put(p.offset[binding_gates] + row * p.gates_row + gate * p.columns + column, count,
                      mix(vec4(0.0), kept[gate], bvec4(goes)));
        }
    }
}
