// grad_table[id] = scale * the sum of grad_out over the positions that hold id, in the given order. One workgroup a row
// of the table finds its positions by bisection.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { EmbedBackwardParams p; };
#include "grid.glsl"
#include "storage.glsl"
layout(set = 0, binding = 0) readonly buffer Ids { int ids[]; };
layout(set = 0, binding = 1) readonly buffer Order { int order[]; };
layout(set = 0, binding = 2) readonly buffer GradOut { Stored grad_out[]; };
layout(set = 0, binding = 3) buffer GradTable { float grad_table[]; };

// Whether entry `at` of the order belongs after every position of `id`: skipped entries stand at the end.
bool is_after(uint at, int id, bool or_equal) {
    int position = order[p.offset[1] + at];
    if (position < 0 || position >= int(p.count)) {
        return true;
    }
    int found = ids[p.offset[0] + uint(position)];
    return found > id || (or_equal && found == id);
}

// The first entry of the order that is after, count if there is none.
uint first_after(int id, bool or_equal) {
    uint low = 0u;
    uint high = p.count;
    while (low < high) {
        uint middle = (low + high) / 2u;
        if (is_after(middle, id, or_equal)) {
            high = middle;
        } else {
            low = middle + 1u;
        }
    }
    return low;
}

void main() {
    int id = int(p.table_first + group_index());
    uint first = first_after(id, true);
    uint last = first_after(id, false);
    if (first == last && p.accumulate != 0u) {
        return;
    }
    uint target = p.offset[3] + group_index() * p.columns;
    for (uint column = lane(); column < p.columns; column += lanes()) {
        float sum = 0.0;
        for (uint at = first; at < last; ++at) {
            uint row = uint(order[p.offset[1] + at]) - p.grad_first;
            if (row < p.grad_rows) {
                sum += widen_one(grad_out[p.offset[2] + row * p.columns + column]);
            }
        }
        float value = p.scale * sum;
        grad_table[target + column] = p.accumulate != 0u ? grad_table[target + column] + value : value;
    }
}
