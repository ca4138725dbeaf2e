// cache[b, h, position + i, :] = x[b, h, i, :] if that row exists; one workgroup for each row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(CacheAppendParams, CACHE_APPEND_BINDINGS, NO_CONSTANTS)
#include "grid.glsl"
#include "storage.glsl"
layout(set = 0, binding = binding_x) readonly buffer X { Word x[]; };
layout(set = 0, binding = binding_position) readonly buffer Position { int position[]; };
layout(set = 0, binding = binding_cache) writeonly buffer Cache { Word cache[]; };

void main() {
    uint plane = group_index() / p.sequence;
    uint row = group_index() - plane * p.sequence;
    uint batch = plane / p.heads;
    uint head = plane - batch * p.heads;
    int start = position[p.offset[binding_position]];
    if (start < -int(row) || start >= int(p.capacity) - int(row)) {
        return;
    }
    uint target_row = uint(start + int(row));
    uint from = p.offset[binding_x] + batch * p.x_strides[0] + head * p.x_strides[1] + row * p.x_strides[2];
    uint to = p.offset[binding_cache] + batch * p.cache_strides[0] + head * p.cache_strides[1] +
              target_row * p.cache_strides[2];
    for (uint column = lane(); column < p.depth; column += lanes()) {
        cache[to + column] = x[from + column];
    }
}
