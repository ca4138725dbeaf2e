// Turns pairs of columns by the angles of their row's position, or back; NaN for a position past the table. Each
// invocation has four pairs, which it reads before it writes them, so that out may be x. A table larger than a binding
// comes in ranges of rows; the first range also handles positions that are in none.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(RotateParams, ROTATE_BINDINGS, ROTATE_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "math.glsl"
#include "storage.glsl"
#include "strided.glsl"
layout(constant_id = constant_neighbours) const bool kNeighbours = false;
HEADSCOPE_READ_FOURS(binding_x, x)
HEADSCOPE_READ_FLOATS(binding_turns, turns)
layout(set = 0, binding = binding_first) readonly buffer First { int first[]; };
HEADSCOPE_WRITE_FOURS(binding_out, to)

void main() {
    if (element_index() >= p.fours) {
        return;
    }
    uvec4 at = coordinates(element_index());  // of four pairs
    uint pairs = p.shape[3];
    uint count = pairs - at.w;
    int before = p.has_first != 0u ? first[p.offset[binding_first]] : 0;
    uint index = p.first_position + at.z;
    // Excludes negative positions and those past the table without a sum that could overflow.
    bool is_placed = before >= -int(index) && before < int(p.positions) - int(index);
    uint row = uint(before + int(index)) - p.turns_first;
    if (is_placed ? row >= p.turns_rows : p.turns_first != 0u) {
        return;
    }
    vec4 cosines = vec4(not_a_number());
    vec4 sines = cosines;
    if (is_placed) {
        uint turn = p.offset[binding_turns] + row * 2u * pairs + at.w;
        cosines = turns_at(turn, count);
        sines = p.sign * turns_at(turn + pairs, count);
    }
    // The second four columns begin behind the first, or behind all pairs' first columns.
    at.w = kNeighbours ? 2u * at.w : at.w;
    uint distance = kNeighbours ? 4u : pairs;
    uint low_count = kNeighbours ? 2u * count : count;
    uint high_count = kNeighbours ? max(low_count, 4u) - 4u : count;
    uint source = p.offset[binding_x] + place(at, p.x_strides);
    uint target = p.offset[binding_out] + place(at, p.out_strides);
    vec4 low = x_at(source, low_count);
    vec4 high = x_at(source + distance, high_count);
    vec4 a = kNeighbours ? vec4(low.xz, high.xz) : low;
    vec4 b = kNeighbours ? vec4(low.yw, high.yw) : high;
    vec4 turned_a = a * cosines - b * sines;
    vec4 turned_b = b * cosines + a * sines;
    to_put(target, low_count, kNeighbours ? vec4(turned_a.x, turned_b.x, turned_a.y, turned_b.y) : turned_a);
    to_put(target + distance, high_count,
           kNeighbours ? vec4(turned_a.z, turned_b.z, turned_a.w, turned_b.w) : turned_b);
}
