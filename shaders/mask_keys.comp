// out = x if some query may see the key, else 0; moved as bits. Each invocation has four elements of a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { MaskKeysParams p; };
#include "fours.glsl"
#include "grid.glsl"
#include "mask.glsl"
#include "storage.glsl"
HEADSCOPE_READ_WORDS(0, x)
HEADSCOPE_WRITE_WORDS(3, to)

void main() {
    uint fours_in_row = (p.depth + 3u) / 4u;
    uint row = element_index() / fours_in_row;
    if (row >= p.count) {
        return;
    }
    uint column = 4u * (element_index() - row * fours_in_row);
    uint index = row / p.rows;
    uint place = row - index * p.rows;
    uint batch = index / p.heads;
    uint head = index - batch * p.heads;
    uint from = p.offset[0] + batch * p.x_strides[0] + head * p.x_strides[1] + place * p.x_strides[2] + column;
    uint count = p.depth - column;
    bool seen = p.first_key + place < allowed_keys((index + 1u) * p.queries - 1u);  // the last query sees most keys
    to_put(p.offset[3] + row * p.depth + column, count, seen ? x_at(from, count) : uvec4(0u));
}
