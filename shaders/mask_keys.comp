// out = x if some query may see the key, else 0; moved as bits. Each invocation has four elements of a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(MaskKeysParams, MASK_KEYS_BINDINGS, FOURS_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "mask.glsl"
#include "storage.glsl"
HEADSCOPE_READ_WORDS(binding_x, x)
HEADSCOPE_WRITE_WORDS(binding_out, to)

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
    uint from = p.offset[binding_x] + batch * p.x_strides[0] + head * p.x_strides[1] + place * p.x_strides[2] + column;
    uint count = p.depth - column;
    bool seen = is_seen(p.first_key + place, index * p.queries);
    to_put(p.offset[binding_out] + row * p.depth + column, count, seen ? x_at(from, count) : uvec4(0u));
}
