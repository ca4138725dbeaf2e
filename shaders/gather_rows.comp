// out[r] = x[index[r]] in 32-bit words; a row that does not exist is filled with p.missing. One workgroup a row. Rows
// larger than a binding come in ranges, and the first range also sees to indices that are in none.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { GatherRowsParams p; };
#include "fours.glsl"
#include "grid.glsl"
HEADSCOPE_READ_WORDS(0, x)
layout(set = 0, binding = 1) readonly buffer Index { int row_index[]; };
HEADSCOPE_WRITE_WORDS(2, to)

void main() {
    int from = row_index[p.offset[1] + group_index()];
    bool exists = from >= 0 && from < int(p.rows_in);
    if (exists ? uint(from) - p.x_first >= p.x_rows : p.x_first != 0u) {
        return;
    }
    uint source = p.offset[0] + (uint(from) - p.x_first) * p.row_step[0];
    uint target = p.offset[2] + group_index() * p.row_step[1];
    for (uint outer = 0; outer < p.outer; ++outer) {
        for (uint inner = 0; inner < p.inner; ++inner) {
            uint here = source + outer * p.outer_step[0] + inner * p.inner_step[0];
            uint there = target + outer * p.outer_step[1] + inner * p.inner_step[1];
            for (uint word = 4u * lane(); word < p.words; word += 4u * lanes()) {
                uint count = p.words - word;
                to_put(there + word, count, exists ? x_at(here + word, count) : uvec4(p.missing));
            }
        }
    }
}
