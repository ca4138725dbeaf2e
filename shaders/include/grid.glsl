// Which workgroup or element this is; the launch may come in parts. To be included after the push constants `p`.
layout(local_size_x_id = constant_local_size) in;

uint group_index() { return p.first_group + gl_WorkGroupID.x; }
uint element_index() { return group_index() * gl_WorkGroupSize.x + gl_LocalInvocationID.x; }
uint lane() { return gl_LocalInvocationID.x; }
uint lanes() { return gl_WorkGroupSize.x; }

// The row and column of a product's tile among rows x columns of them, along the shorter way first: what is loaded of the
// larger operand serves the tiles that are at work at once, and is not loaded again.
uvec2 place_of_tile(uint tile, uint rows, uint columns) {
    return rows < columns ? uvec2(tile % rows, tile / rows) : uvec2(tile / columns, tile % columns);
}
