// out = scale table[id], of a table in blocks (tensor/blocks.h): 0 for no token, NaN for another id out of range. Without
// ids rows follow each other. One workgroup for each row, whose invocations take a word of codes each. A table larger than
// a binding comes in ranges of rows; the first range also handles ids that are in none.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params.h"
HEADSCOPE_KERNEL(BlockEmbedParams, BLOCK_EMBED_BINDINGS, BLOCK_EMBED_CONSTANTS)
#include "codes.glsl"
#include "grid.glsl"
#include "math.glsl"
layout(constant_id = constant_eight_bits) const bool kEightBits = false;
layout(constant_id = constant_has_ids) const bool kHasIds = true;
layout(constant_id = constant_factors) const bool kFactors = false;
layout(set = 0, binding = binding_ids) readonly buffer Ids { int ids[]; };
layout(set = 0, binding = binding_codes) readonly buffer Codes { uint codes[]; };
layout(set = 0, binding = binding_scales) readonly buffer Scales { uint scales[]; };
layout(set = 0, binding = binding_out) writeonly buffer Out { float to[]; };
const int kNoToken = -1;

void put(uint row, uint column, vec4 value) {
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
        if (column + i < p.columns) {
            to[p.offset[binding_out] + row * p.columns + column + i] = value[i];
        }
    }
}

void main() {
    uint row = group_index();
    int id = kHasIds ? ids[p.offset[binding_ids] + row] : int(p.first_row + row);
    bool exists = id >= 0 && id < int(p.vocabulary);
    if (exists ? uint(id) - p.table_first >= p.table_rows : p.table_first != 0u) {
        return;
    }
    uint words = kEightBits ? 8u : 4u;  // of a block
    uint block_row = (uint(id) - p.table_first) * p.blocks;
    for (uint index = lane(); index < p.blocks * words; index += lanes()) {
        uint block = index / words;
        uint word = index - block * words;
        vec4 first = vec4(id == kNoToken ? 0.0 : not_a_number());
        vec4 second = first;
        if (exists) {
            uint at = p.offset[binding_scales] + (kFactors ? 2u : 1u) * (block_row + block);
            vec4 scale = p.scale * scales_and_least(scales[at], kFactors, kFactors ? scales[at + 1u] : 0u);
            bool in_last = kEightBits && word >= 4u;  // half of the block
            uint bits = codes[p.offset[binding_codes] + block_row * words + index];
            vec2 own = in_last ? scale.yw : scale.xz;
            first = own.x * (kEightBits ? signed_bytes(bits) : low_halves(bits)) + own.y;
            second = scale.y * high_halves(bits) + scale.w;
        }
        uint column = 32u * block + 4u * word;
        put(row, column, first);
        if (!kEightBits) {
            put(row, column + 16u, second);
        }
    }
}
