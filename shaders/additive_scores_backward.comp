// The gradient of additive scores for one side, x, against the rows of the other, and the products that add up to that
// of the gain; each invocation has four columns of a row of x.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(AdditiveScoresBackwardParams, ADDITIVE_SCORES_BACKWARD_BINDINGS, ADDITIVE_SCORES_BACKWARD_CONSTANTS)
#include "activation.glsl"
#include "fours.glsl"
#include "grid.glsl"
#include "storage.glsl"
layout(constant_id = constant_accumulates) const bool kAccumulates = false;
layout(constant_id = constant_has_products) const bool kHasProducts = false;
HEADSCOPE_READ_FOURS(binding_x, x)
HEADSCOPE_READ_FOURS(binding_others, others)
HEADSCOPE_READ_FLOATS(binding_gain, gain)
layout(set = 0, binding = binding_grad_scores) readonly buffer GradScores { Stored grad_scores[]; };
HEADSCOPE_WRITE_FOURS(binding_grad_x, grad_x)
HEADSCOPE_WRITE_FLOATS(binding_products, products)

void main() {
    uint fours = (p.depth + 3u) / 4u;
    uint row = element_index() / fours;
    if (row >= p.all_rows) {
        return;
    }
    uint column = 4u * (element_index() - row * fours);
    uint count = p.depth - column;
    uint plane = row / p.rows;
    uint place = row - plane * p.rows;
    uint batch = plane / p.heads;
    uint head = plane - batch * p.heads;
    vec4 own = x_at(p.offset[binding_x] + batch * p.x_strides[0] + head * p.x_strides[1] + place * p.x_strides[2] + column,
                    count);
    uint other = p.offset[binding_others] + batch * p.others_strides[0] + head * p.others_strides[1] + column;
    uint grad_at = p.offset[binding_grad_scores] + plane * p.rows * p.others + place * p.grad_row;
    vec4 slopes = vec4(0.0);
    vec4 sums = vec4(0.0);
    for (uint j = 0u; j < p.others; ++j) {
        vec4 squashed = squash(own + others_at(other + j * p.others_strides[2], count));
        float grad = widen_one(grad_scores[grad_at + j * p.grad_other]);
        slopes += grad * (1.0 - squashed * squashed);
        sums += grad * squashed;
    }
    uint to = p.offset[binding_grad_x] + batch * p.grad_x_strides[0] + head * p.grad_x_strides[1] +
              place * p.grad_x_strides[2] + column;
    vec4 grad = gain_at(p.offset[binding_gain] + head * p.depth + column, count) * slopes;
    if (kAccumulates) {
        grad += grad_x_at(to, count);
    }
    grad_x_put(to, count, grad);
    if (kHasProducts) {
        products_put(p.offset[binding_products] + (batch * p.rows + place) * p.products_row + head * p.depth + column,
                     count, sums);
    }
}
