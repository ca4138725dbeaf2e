// With n = (sum - mean) rstd and g = gain grad_y:
//   grad_sum = rstd (g - average(g) - n average(g n)) + grad_sum_out, grad_residual = grad_sum, grad_x = Dropout(it).
// One workgroup a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { AddLayerNormBackwardParams p; };
#include "dropout.glsl"
#include "grid.glsl"
#include "reduce.glsl"
layout(set = 0, binding = 0) readonly buffer Sum { float sums[]; };
layout(set = 0, binding = 1) readonly buffer Gain { float gain[]; };
layout(set = 0, binding = 2) readonly buffer Mean { float means[]; };
layout(set = 0, binding = 3) readonly buffer Rstd { float rstds[]; };
layout(set = 0, binding = 4) readonly buffer GradY { float grad_y[]; };
layout(set = 0, binding = 5) readonly buffer GradSumOut { float grad_sum_out[]; };
layout(set = 0, binding = 6) readonly buffer Step { uint steps[]; };
layout(set = 0, binding = 7) readonly buffer Ordinals { uint ordinals[]; };
layout(set = 0, binding = 8) buffer GradX { float grad_x[]; };
layout(set = 0, binding = 9) buffer GradResidual { float grad_residual[]; };

void main() {
    uint row_start = group_index() * p.columns;
    bool drops = p.dropout.threshold != 0u;
    uint width = drops ? 8u : 1u;
    DropoutRow drop = DropoutRow(0u, 0u, 0u);
    if (drops) {
        uint row = p.first_row + group_index();
        uint batch = row / p.sequence;
        drop = DropoutRow(row - batch * p.sequence, ordinals[p.offset[7] + batch], steps[p.offset[6]]);
    }
    float mean = means[p.offset[2] + group_index()];
    float rstd = rstds[p.offset[3] + group_index()];
    float sum_g = 0.0;
    float sum_gn = 0.0;
    for (uint column = lane(); p.has_grad_y != 0u && column < p.columns; column += lanes()) {
        float g = gain[p.offset[1] + column] * grad_y[p.offset[4] + row_start + column];
        sum_g += g;
        sum_gn += g * (sums[p.offset[0] + row_start + column] - mean) * rstd;
    }
    float average_g = group_sum(sum_g) / float(p.columns);
    float average_gn = group_sum(sum_gn) / float(p.columns);
    for (uint first = lane() * width; first < p.columns; first += lanes() * width) {
        uvec4 words = drops ? dropout_words(p.dropout, drop, first / 8u) : uvec4(0u);
        uint last = min(first + width, p.columns);
        for (uint column = first; column < last; ++column) {
            uint index = row_start + column;
            float g = p.has_grad_y != 0u ? gain[p.offset[1] + column] * grad_y[p.offset[4] + index] : 0.0;
            float normal = (sums[p.offset[0] + index] - mean) * rstd;
            float grad = rstd * (g - average_g - normal * average_gn);
            grad += p.has_grad_sum_out != 0u ? grad_sum_out[p.offset[5] + index] : 0.0;
            if (p.has_grad_residual != 0u) {
                uint target = p.offset[9] + index;
                grad_residual[target] = p.accumulate_residual != 0u ? grad_residual[target] + grad : grad;
            }
            if (p.has_grad_x != 0u) {
                uint target = p.offset[8] + index;
                float kept = drops ? dropout_apply(p.dropout, words, column, grad) : grad;
                grad_x[target] = p.accumulate_x != 0u ? grad_x[target] + kept : kept;
            }
        }
    }
}
