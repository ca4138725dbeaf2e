// out[r] = x[index[r]] in words of the type's width; a missing row is filled with p.missing. A workgroup copies some
// runs of a row, or a part of one: a beam has few, long rows, and llvmpipe leaves a kernel whose loops have run 65,535
// times. Rows larger than a binding come in ranges; the first range also handles indices that are in none.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(GatherRowsParams, GATHER_ROWS_BINDINGS, FOURS_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "storage.glsl"
HEADSCOPE_READ_WORDS(binding_x, x)
layout(set = 0, binding = binding_index) readonly buffer Index { int row_index[]; };
HEADSCOPE_WRITE_WORDS(binding_out, to)

void main() {
    uint row = group_index() / (p.run_parts * p.word_parts);
    uint part = group_index() - row * (p.run_parts * p.word_parts);
    uint run_part = part / p.word_parts;
    uint word_part = part - run_part * p.word_parts;
    int from = row_index[p.offset[binding_index] + row];
    bool exists = from >= 0 && from < int(p.rows_in);
    if (exists ? uint(from) - p.x_first >= p.x_rows : p.x_first != 0u) {
        return;
    }
    uint source = p.offset[binding_x] + (uint(from) - p.x_first) * p.row_step[0];
    uint target = p.offset[binding_out] + row * p.row_step[1];
    uint last_run = min((run_part + 1u) * p.part_runs, p.runs);
    uint last_word = min((word_part + 1u) * p.part_words, p.words);
    for (uint run = run_part * p.part_runs; run < last_run; ++run) {
        uint outer = run / p.inner;
        uint inner = run - outer * p.inner;
        uint here = source + outer * p.outer_step[0] + inner * p.inner_step[0];
        uint there = target + outer * p.outer_step[1] + inner * p.inner_step[1];
        for (uint word = word_part * p.part_words + 4u * lane(); word < last_word; word += 4u * lanes()) {
            uint count = p.words - word;
            to_put(there + word, count, exists ? x_at(here + word, count) : uvec4(p.missing));
        }
    }
}
