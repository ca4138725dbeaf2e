// The taps of a position, for kernels whose parameters are those of Unfold and SumTaps.
#ifndef HEADSCOPE_TAPS_GLSL
#define HEADSCOPE_TAPS_GLSL

layout(constant_id = constant_has_lengths) const bool kHasLengths = false;
layout(constant_id = constant_has_ranges) const bool kHasRanges = false;
layout(set = 0, binding = binding_lengths) readonly buffer Lengths { int lengths[]; };
layout(set = 0, binding = binding_ranges) readonly buffer Ranges { int ranges[]; };

// The row of x that is tap `tap` of a row of out, below 0 if there is none.
int row_of_tap(uint row, uint tap) {
    uint sentence = row / p.positions;
    int position = int(row - sentence * p.positions);
    int at = position + p.first + int(tap) * p.step;
    bool exists = at >= 0 && at < int(p.inputs);
    if (kHasLengths) {
        int length = lengths[p.offset[binding_lengths] + sentence];
        exists = exists && position < length && at < length;
    }
    if (kHasRanges) {
        uint range = p.offset[binding_ranges] + 2u * row;
        exists = exists && at >= ranges[range] && at < ranges[range + 1u];
    }
    return exists ? int(sentence * p.inputs) + at : -1;
}

#endif
