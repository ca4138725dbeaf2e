// sums[b, d, h] = the sum of x[b, h, i, i + d - (queries - 1)] over i, in order. One invocation for each sum: neighbours
// have neighbouring diagonals. x may come in parts of its rows.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(SumDiagonalsParams, SUM_DIAGONALS_BINDINGS, SUM_DIAGONALS_CONSTANTS)
#include "grid.glsl"
#include "storage.glsl"
layout(constant_id = constant_accumulates) const bool kAccumulates = false;
layout(set = 0, binding = binding_x) readonly buffer X { Stored x[]; };
layout(set = 0, binding = binding_sums) buffer Sums { float sums[]; };

void main() {
    if (element_index() >= p.count) {
        return;
    }
    uint diagonals = p.queries + p.keys - 1u;
    uint head = element_index() / diagonals;  // of all sentences
    uint diagonal = element_index() - head * diagonals;
    int ahead = int(diagonal) - int(p.queries - 1u);  // by how much the key is ahead of the query
    int before = int(p.first_row) - int(head * p.queries);  // queries of this head that came in earlier parts
    int begin = max(max(-ahead, 0), before);
    int end = min(min(int(p.queries), int(p.keys) - ahead), before + int(p.rows));
    float sum = 0.0;
    for (int query = begin; query < end; ++query) {
        sum += widen_one(x[p.offset[binding_x] + uint(query - before) * p.keys + uint(query + ahead)]);
    }
    uint sentence = head / p.heads;
    uint to = p.offset[binding_sums] + (sentence * diagonals + diagonal) * p.heads + head - sentence * p.heads;
    sums[to] = kAccumulates ? sums[to] + sum : sum;
}
