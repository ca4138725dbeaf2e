// The place of four neighbours, counted row by row, in views of one shape; a row's last may be fewer. To be included after
// the push constants `p` with count and shape.
uint fours_in_row() { return (p.shape[3] + 3u) / 4u; }
uint fours_in_all() { return p.count / p.shape[3] * fours_in_row(); }

uvec4 coordinates(uint index) {
    uvec4 at = uvec4(0u, 0u, 0u, 4u * index);
    if (p.shape[3] != p.count) {
        uint row = index / fours_in_row();
        at.w = 4u * (index - row * fours_in_row());
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
