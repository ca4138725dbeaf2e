// The gradients of the gates of an LSTM or GRU in one time step; each invocation has four columns of a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(RecurrentStepBackwardParams, RECURRENT_STEP_BACKWARD_BINDINGS, RECURRENT_STEP_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "recurrent.glsl"
#include "storage.glsl"
const bool kHasGradY = (kHas & 1u) != 0u;
const bool kHasGradHidden = (kHas & 2u) != 0u;
const bool kHasGradState = (kHas & 4u) != 0u;
const bool kHasLengths = (kHas & 8u) != 0u;
HEADSCOPE_READ_FOURS(binding_gates, gates)
HEADSCOPE_READ_FOURS(binding_hidden, hidden)
HEADSCOPE_READ_FLOATS(binding_state, state)
HEADSCOPE_READ_FOURS(binding_grad_y, grad_y)
HEADSCOPE_READ_FOURS(binding_grad_next_hidden, grad_next_hidden)
HEADSCOPE_READ_FLOATS(binding_grad_next_state, grad_next_state)
HEADSCOPE_WRITE_FOURS(binding_grad_x, grad_x)
HEADSCOPE_WRITE_FOURS(binding_grad_h, grad_h)
HEADSCOPE_WRITE_FOURS(binding_grad_hidden, grad_hidden)
HEADSCOPE_WRITE_FLOATS(binding_grad_state, grad_state)

// x, or 0 in a row of padding.
vec4 if_goes(bool goes, vec4 x) { return mix(vec4(0.0), x, bvec4(goes)); }

void main() {
    uint row = element_index() / fours_in_row();
    if (row >= p.rows) {
        return;
    }
    uint column = 4u * (element_index() - row * fours_in_row());
    uint count = p.columns - column;
    bool goes = goes_on(kHasLengths, row);
    bool stops = goes && ends(row);
    vec4 kept[4];
    [[unroll]] for (uint gate = 0u; gate < 4u; ++gate) {
        kept[gate] = gates_at(p.offset[binding_gates] + row * p.gates_row + gate * p.columns + column, count);
    }
    vec4 carried = vec4(0.0);
    if (kHasGradHidden) {
        carried = grad_next_hidden_at(p.offset[binding_grad_next_hidden] + row * p.grad_next_hidden_row + column, count);
    }
    vec4 grad = mix(carried, vec4(0.0), bvec4(stops));
    if (kHasGradY) {
        grad += grad_y_at(p.offset[binding_grad_y] + row * p.grad_y_row + column, count);
    }
    vec4 grads[4];
    vec4 grad_before = vec4(0.0);
    if (kGru) {
        vec4 hidden = hidden_at(p.offset[binding_hidden] + row * p.hidden_row + column, count);
        grads[2] = grad * (1.0 - kept[1]) * (1.0 - kept[2] * kept[2]);
        grads[0] = grads[2] * kept[3] * kept[0] * (1.0 - kept[0]);
        grads[1] = grad * (hidden - kept[2]) * kept[1] * (1.0 - kept[1]);
        grad_before = grad * kept[1];
        [[unroll]] for (uint gate = 0u; gate < 3u; ++gate) {
            grad_h_put(p.offset[binding_grad_h] + row * p.grad_h_row + gate * p.columns + column, count,
                       if_goes(goes, gate == 2u ? grads[2] * kept[0] : grads[gate]));
        }
    } else {
        vec4 state = state_at(p.offset[binding_state] + row * p.state_row + column, count);
        vec4 squashed = squash(kept[1] * state + kept[0] * kept[2]);
        vec4 carried_state = vec4(0.0);
        if (kHasGradState) {
            carried_state =
                grad_next_state_at(p.offset[binding_grad_next_state] + row * p.grad_next_state_row + column, count);
        }
        vec4 grad_c = mix(carried_state, vec4(0.0), bvec4(stops)) + grad * kept[3] * (1.0 - squashed * squashed);
        grads[0] = grad_c * kept[2] * kept[0] * (1.0 - kept[0]);
        grads[1] = grad_c * state * kept[1] * (1.0 - kept[1]);
        grads[2] = grad_c * kept[0] * (1.0 - kept[2] * kept[2]);
        grads[3] = grad * squashed * kept[3] * (1.0 - kept[3]);
        grad_state_put(p.offset[binding_grad_state] + row * p.grad_state_row + column, count,
                       mix(carried_state, grad_c * kept[1], bvec4(goes)));
    }
    [[unroll]] for (uint gate = 0u; gate < kGates; ++gate) {
        grad_x_put(p.offset[binding_grad_x] + row * p.grad_x_row + gate * p.columns + column, count,
                   if_goes(goes, grads[gate]));
    }
    grad_hidden_put(p.offset[binding_grad_hidden] + row * p.grad_hidden_row + column, count,
                    mix(carried, grad_before, bvec4(goes)));
}
