// grad_table[id] = scale * the sum of grad_out over the positions of id, in the given order; rows of other ids stay
// unchanged. A workgroup handles a slice of a row for an entry of the order: the first of each id, with all that
// follow. There is only one loop, because llvmpipe leaves a kernel whose loops have run 65,535 times.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(EmbedBackwardParams, EMBED_BACKWARD_BINDINGS, EMBED_BACKWARD_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "storage.glsl"
// A constant: software devices execute both sides of a branch.
layout(constant_id = constant_accumulates) const bool kAccumulates = false;
layout(set = 0, binding = binding_ids) readonly buffer Ids { int ids[]; };
layout(set = 0, binding = binding_order) readonly buffer Order { int order[]; };
HEADSCOPE_READ_FOURS(binding_grad_out, grad_out)
HEADSCOPE_WRITE_FLOATS(binding_grad_table, grad_table)

// The id of entry `at` of the order; -1, which is not a row of the table, if it is skipped.
int id_at(uint at) {
    int position = order[p.offset[binding_order] + at];
    return position >= 0 && position < int(p.count) ? ids[p.offset[binding_ids] + uint(position)] : -1;
}

void main() {
    uint first = group_index() / p.slices;
    uint column = 4u * ((group_index() - first * p.slices) * lanes() + lane());
    int id = id_at(first);
    uint row = uint(id) - p.table_first;
    bool begins = first == 0u || id_at(first - 1u) != id;
    if (row >= p.table_rows || !begins || column >= p.columns) {
        return;
    }
    uint count = p.columns - column;
    vec4 sum = vec4(0.0);
    for (uint at = first; at < p.count && id_at(at) == id; ++at) {
        uint position = uint(order[p.offset[binding_order] + at]) - p.grad_first;
        if (position < p.grad_rows) {
            sum += grad_out_at(p.offset[binding_grad_out] + position * p.columns + column, count);
        }
    }
    uint target = p.offset[binding_grad_table] + row * p.columns + column;
    vec4 value = p.scale * sum;
    if (kAccumulates) {
        value += grad_table_at(target, count);
    }
    grad_table_put(target, count, value);
}
