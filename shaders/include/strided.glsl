// The place of four neighbours, counted row by row, in views of one shape; a row's last group may have fewer. Include
// after the push constants `p` with fours and shape.

// The maximum number of innermost dimensions with more than one entry. A constant, since software devices execute both
// sides of a branch and divide lane by lane.
layout(constant_id = constant_dimensions) const uint kDimensions = 4u;

uvec4 coordinates(uint index) {
    uvec4 at = uvec4(0u, 0u, 0u, 4u * index);
    if (kDimensions > 1u) {
        uint fours_in_row = (p.shape[3] + 3u) / 4u;
        uint row = index / fours_in_row;
        at.w = 4u * (index - row * fours_in_row);
        at.z = row;
        if (kDimensions > 2u) {
            uint plane = row / p.shape[2];
            at.z = row - plane * p.shape[2];
            at.x = plane / p.shape[1];
            at.y = plane - at.x * p.shape[1];
        }
    }
    return at;
}

uint place(uvec4 at, uint strides[3]) {
    return kDimensions == 1u ? at.w : at.x * strides[0] + at.y * strides[1] + at.z * strides[2] + at.w;
}
