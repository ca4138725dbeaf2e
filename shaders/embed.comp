// out = scale table[id] + positions[first + i]; NaN for an id or a position that does not exist. One workgroup a row.
// A table larger than a binding comes in ranges of rows, and the first range also sees to ids that are in none.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { EmbedParams p; };
#include "grid.glsl"
#include "math.glsl"
layout(set = 0, binding = 0) readonly buffer Ids { int ids[]; };
layout(set = 0, binding = 1) readonly buffer Table { float table[]; };
layout(set = 0, binding = 2) readonly buffer Positions { float positions[]; };
layout(set = 0, binding = 3) readonly buffer First { int first[]; };
layout(set = 0, binding = 4) writeonly buffer Out { float to[]; };

void main() {
    uint row = group_index();
    int id = ids[p.offset[0] + row];
    bool exists = id >= 0 && id < int(p.vocabulary);
    if (exists ? uint(id) - p.table_first >= p.table_rows : p.table_first != 0u) {
        return;
    }
    uint position = 0u;
    if (p.has_positions != 0u) {
        int before = p.has_first != 0u ? first[p.offset[3]] : 0;
        uint index = (p.first_row + row) % p.sequence;
        // Negative positions and those past the table, without a sum that could wrap.
        exists = exists && before >= -int(index) && before < int(p.max_length) - int(index);
        position = uint(before + int(index));
    }
    uint source = p.offset[1] + (uint(id) - p.table_first) * p.columns;
    uint place = p.offset[2] + position * p.positions_stride;
    for (uint column = lane(); column < p.columns; column += lanes()) {
        float value = not_a_number();
        if (exists) {
            value = p.scale * table[source + column];
            value += p.has_positions != 0u ? positions[place + column] : 0.0;
        }
        to[p.offset[4] + row * p.columns + column] = value;
    }
}
