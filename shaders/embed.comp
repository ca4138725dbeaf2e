// out = scale table[id] + positions[first + i]; the position alone for no token, NaN for another id or a position out of
// range. One workgroup for each row. A table larger than a binding comes in ranges of rows; the first range also handles
// ids that are in none.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(EmbedParams, EMBED_BINDINGS, EMBED_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "math.glsl"
#include "storage.glsl"
// A constant: software devices execute both sides of a branch.
layout(constant_id = constant_has_positions) const bool kHasPositions = true;
layout(set = 0, binding = binding_ids) readonly buffer Ids { int ids[]; };
HEADSCOPE_READ_FOURS(binding_table, table)
HEADSCOPE_READ_FLOATS(binding_positions, positions)
layout(set = 0, binding = binding_first) readonly buffer First { int first[]; };
HEADSCOPE_WRITE_FOURS(binding_out, to)
const int kNoToken = -1;

void main() {
    uint row = group_index();
    int id = ids[p.offset[binding_ids] + row];
    bool exists = id >= 0 && id < int(p.vocabulary);
    if (exists ? uint(id) - p.table_first >= p.table_rows : p.table_first != 0u) {
        return;
    }
    bool is_row = exists || id == kNoToken;
    uint position = 0u;
    if (kHasPositions) {
        int before = p.has_first != 0u ? first[p.offset[binding_first]] : 0;
        uint index = (p.first_row + row) % p.sequence;
        // Excludes negative positions and those past the table without a sum that could overflow.
        is_row = is_row && before >= -int(index) && before < int(p.max_length) - int(index);
        position = uint(before + int(index));
    }
    uint source = p.offset[binding_table] + (uint(id) - p.table_first) * p.columns;
    uint place = p.offset[binding_positions] + position * p.positions_stride;
    for (uint column = 4u * lane(); column < p.columns; column += 4u * lanes()) {
        uint count = p.columns - column;
        vec4 value = vec4(not_a_number());
        if (is_row) {
            value = vec4(0.0);
            if (exists) {
                value = p.scale * table_at(source + column, count);
            }
            if (kHasPositions) {
                value += positions_at(place + column, count);
            }
        }
        to_put(p.offset[binding_out] + row * p.columns + column, count, value);
    }
}
