// grad_table[id] = scale * the sum of grad_out over the positions that hold id, in the given order. One workgroup a row
// of the table finds its positions, all its invocations looking at places of the order between which they must begin.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { EmbedBackwardParams p; };
#include "fours.glsl"
#include "grid.glsl"
#include "reduce.glsl"
layout(constant_id = 3) const bool kAccumulates = false;  // a CPU's Vulkan takes both ways of a branch
layout(set = 0, binding = 0) readonly buffer Ids { int ids[]; };
layout(set = 0, binding = 1) readonly buffer Order { int order[]; };
HEADSCOPE_READ_FOURS(2, grad_out)
HEADSCOPE_WRITE_FOURS(3, grad_table)

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
        // Each looks at the last entry of its share; the last one's share may lie past the end.
        uint share = (high - low + lanes() - 1u) / lanes();
        uint last = low + (lane() + 1u) * share - 1u;
        bool after = last >= high || is_after(min(last, high - 1u), id, or_equal);
        low = group_max(after ? low : last + 1u);
        high = group_min(after ? min(last, high) : high);
    }
    return low;
}

void main() {
    int id = int(p.table_first + group_index());
    uint first = first_after(id, true);
    uint last = first_after(id, false);
    if (first == last && kAccumulates) {
        return;
    }
    uint target = p.offset[3] + group_index() * p.columns;
    for (uint column = 4u * lane(); column < p.columns; column += 4u * lanes()) {
        uint count = p.columns - column;
        vec4 sum = vec4(0.0);
        for (uint at = first; at < last; ++at) {
            uint row = uint(order[p.offset[1] + at]) - p.grad_first;
            if (row < p.grad_rows) {
                sum += grad_out_at(p.offset[2] + row * p.columns + column, count);
            }
        }
        vec4 value = p.scale * sum;
        if (kAccumulates) {
            value += grad_table_at(target + column, count);
        }
        grad_table_put(target + column, count, value);
    }
}
