// out = scale table[id] + positions[first + i]; NaN for an id or a position out of range. One workgroup for each row. A
// table larger than a binding comes in ranges of rows; the first range also handles ids that are in none.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { EmbedParams p; };
#include "fours.glsl"
#include "grid.glsl"
#include "math.glsl"
#include "storage.glsl"
layout(constant_id = 3) const bool kHasPositions = true;  // software devices execute both sides of a branch
layout(set = 0, binding = 0) readonly buffer Ids { int ids[]; };
HEADSCOPE_READ_FOURS(1, table)
HEADSCOPE_READ_FLOATS(2, positions)
layout(set = 0, binding = 3) readonly buffer First { int first[]; };
HEADSCOPE_WRITE_FOURS(4, to)

void main() {
    uint row = group_index();
    int id = ids[p.offset[0] + row];
    bool exists = id >= 0 && id < int(p.vocabulary);
    if (exists ? uint(id) - p.table_first >= p.table_rows : p.table_first != 0u) {
        return;
    }
    uint position = 0u;
    if (kHasPositions) {
        int before = p.has_first != 0u ? first[p.offset[3]] : 0;
        uint index = (p.first_row + row) % p.sequence;
        // Excludes negative positions and those past the table without a sum that could overflow.
        exists = exists && before >= -int(index) && before < int(p.max_length) - int(index);
        position = uint(before + int(index));
    }
    uint source = p.offset[1] + (uint(id) - p.table_first) * p.columns;
    uint place = p.offset[2] + position * p.positions_stride;
    for (uint column = 4u * lane(); column < p.columns; column += 4u * lanes()) {
        uint count = p.columns - column;
        vec4 value = vec4(not_a_number());
        if (exists) {
            value = p.scale * table_at(source + column, count);
            if (kHasPositions) {
                value += positions_at(place + column, count);
            }
        }
        to_put(p.offset[4] + row * p.columns + column, count, value);
    }
}
