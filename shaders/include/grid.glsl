// Which workgroup or element this is; the launch may come in parts. To be included after the push constants `p`.
layout(local_size_x_id = 0) in;

uint group_index() { return p.first_group + gl_WorkGroupID.x; }
uint element_index() { return group_index() * gl_WorkGroupSize.x + gl_LocalInvocationID.x; }
uint lane() { return gl_LocalInvocationID.x; }
uint lanes() { return gl_WorkGroupSize.x; }
