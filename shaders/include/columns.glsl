// For batch norms: which rows of [batch, length, columns] are measured, and sums over a workgroup's rows of four columns.
#ifndef HEADSCOPE_COLUMNS_GLSL
#define HEADSCOPE_COLUMNS_GLSL

layout(constant_id = constant_measures) const bool kMeasures = true;
layout(constant_id = constant_has_lengths) const bool kHasLengths = false;
layout(set = 0, binding = binding_lengths) readonly buffer Lengths { int lengths[]; };

bool is_measured(uint row) {
    if (!kMeasures || !kHasLengths) {
        return kMeasures;
    }
    uint sentence = row / p.sequence;
    return int(row - sentence * p.sequence) < lengths[p.offset[binding_lengths] + sentence];
}

vec4 group_sum_of_fours(vec4 value) {
    return vec4(group_sum(value.x), group_sum(value.y), group_sum(value.z), group_sum(value.w));
}

float measured_rows() {
    float sum = 0.0;
    for (uint row = lane(); row < p.rows; row += lanes()) {
        sum += is_measured(row) ? 1.0 : 0.0;
    }
    return group_sum(sum);
}

#endif
