// Computes what attention's backward needs of each query, once: the log of its sum of exponentials, grad_out . out
// (which is the sum over its keys of weight * grad_weight), how many keys it sees, and the first of them. Each head's
// queries come after its sentence's ordinal, the position of the first query and the window, and everything after the
// dropout rule: push constants have no room for these. One invocation for each query.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params.h"
HEADSCOPE_KERNEL(AttendBackwardRowsParams, ATTEND_BACKWARD_ROWS_BINDINGS, HEADS_CONSTANTS)
#include "grid.glsl"
#include "heads.glsl"
#include "mask.glsl"
#include "storage.glsl"
HEADSCOPE_ROWS(binding_out, load_out, kValueDepth, WideOut, wide_out, NarrowOut, narrow_out)
HEADSCOPE_ROWS(binding_grad_out, load_grad, kValueDepth, WideGrad, wide_grad, NarrowGrad, narrow_grad)
layout(set = 0, binding = binding_log_sums) readonly buffer LogSums { float log_sums[]; };
layout(set = 0, binding = binding_ordinals) readonly buffer Ordinals { uint ordinals[]; };
layout(set = 0, binding = binding_step) readonly buffer Step { uint steps[]; };
layout(set = 0, binding = binding_rows) writeonly buffer Rows { uvec4 rows[]; };

void main() {
    uint first = p.offset[binding_rows] / 4u;
    if (element_index() == 0u) {
        rows[first] = uvec4(p.drop_threshold, p.drop_seed, p.drop_site, kDrops ? steps[p.offset[binding_step]] : 0u);
    }
    uint row = element_index();
    if (row >= p.count) {
        return;
    }
    uint index = row / p.queries;
    uint query = row - index * p.queries;
    uint batch = index / p.heads;
    Place place = Place(batch, index - batch * p.heads, index, query);
    uint out_at = p.offset[binding_out] + start_of(place, p.out_strides) + query * p.out_strides[2];
    uint grad_at = p.offset[binding_grad_out] + start_of(place, p.grad_strides) + query * p.grad_strides[2];
    float mean = 0.0;
    [[unroll]] for (uint d = 0u; d < kValueFours; ++d) {
        mean = add_dot(load_out(out_at, d), load_grad(grad_at, d), mean);
    }
    uint to = first + 2u + index + row;
    if (query == 0u) {
        uint ordinal = kDrops ? ordinals[p.offset[binding_ordinals] + batch] : 0u;
        rows[to - 1u] = uvec4(ordinal, uint(query_position()), p.mask >> kWindowShift, 0u);
    }
    Keys allowed = allowed_keys(row);
    rows[to] = uvec4(floatBitsToUint(log_sums[p.offset[binding_log_sums] + row]), floatBitsToUint(mean), allowed.count,
                     allowed.begin);
}
