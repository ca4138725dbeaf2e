// What the two kernels of recurrent layers share. Include after the push constants `p` with columns, position and positions.
#ifndef HEADSCOPE_RECURRENT_GLSL
#define HEADSCOPE_RECURRENT_GLSL

#include "activation.glsl"

layout(constant_id = constant_gru) const bool kGru = false;
layout(constant_id = constant_has) const uint kHas = 0u;
const uint kGates = kGru ? 3u : 4u;
const bool kHasDocuments = (kHas & 32u) != 0u;
const bool kFromEnd = (kHas & 64u) != 0u;
layout(set = 0, binding = binding_lengths) readonly buffer Lengths { int lengths[]; };
layout(set = 0, binding = binding_documents) readonly buffer Documents { int documents[]; };

uint fours_in_row() { return (p.columns + 3u) / 4u; }

// Whether a row has a token at this position.
bool goes_on(bool has_lengths, uint row) {
    return !has_lengths || int(p.position) < lengths[p.offset[binding_lengths] + row];
}

// Whether a document's last step is at this position.
bool ends(uint row) {
    if (!kHasDocuments) {
        return false;
    }
    uint at = p.offset[binding_documents] + 2u * (row * p.positions + p.position);
    return kFromEnd ? documents[at] >= int(p.position) : documents[at + 1u] <= int(p.position) + 1;
}

#endif
