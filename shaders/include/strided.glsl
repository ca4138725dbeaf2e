// The place of a flat index in views of one shape. To be included after the push constants `p` with count and shape.
uvec4 coordinates(uint index) {
    uvec4 at = uvec4(0u, 0u, 0u, index);
    if (p.shape[3] != p.count) {
        uint row = index / p.shape[3];
        at.w = index - row * p.shape[3];
        at.z = row;
        if (p.shape[2] * p.shape[3] != p.count) {
            uint plane = row / p.shape[2];
            at.z = row - plane * p.shape[2];
            at.x = plane / p.shape[1];
            at.y = plane - at.x * p.shape[1];
        }
    }
    return at;
}

uint place(uvec4 at, uint strides[3]) { return at.x * strides[0] + at.y * strides[1] + at.z * strides[2] + at.w; }
