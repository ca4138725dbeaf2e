// Which keys a row of [batch, heads, queries] may see: an interval, whatever the AttentionMask. Include after the push
// constants `p`; the kernel has the bindings key_lengths, query_offset and key_ranges.
#include "keys.glsl"

layout(set = 0, binding = binding_key_lengths) readonly buffer KeyLengths { int key_lengths[]; };
layout(set = 0, binding = binding_query_offset) readonly buffer QueryOffset { int query_offset[]; };
layout(set = 0, binding = binding_key_ranges) readonly buffer KeyRanges { int key_ranges[]; };

// Bits of p.mask: mask_bits() in C++.
const uint kHasLengths = 1u;
const uint kIsCausal = 2u;
const uint kHasOffset = 4u;
const uint kHasRanges = 8u;

// Without ranges begin is always 0, and of a head's queries the last one sees most keys.
Keys allowed_keys(uint row) {
    uint batch = row / (p.heads * p.queries);
    int begin = 0;
    int end = int(p.keys);
    if ((p.mask & kHasLengths) != 0u) {
        end = min(end, key_lengths[p.offset[binding_key_lengths] + batch]);
    }
    if ((p.mask & kIsCausal) != 0u) {
        int before = (p.mask & kHasOffset) != 0u ? query_offset[p.offset[binding_query_offset]] : 0;
        // Compared without adding to what may be the largest integer.
        int query = int(row % p.queries);
        end = before < end - query - 1 ? before + query + 1 : end;
    }
    if ((p.mask & kHasRanges) != 0u) {
        uint at = p.offset[binding_key_ranges] + 2u * (batch * p.queries + row % p.queries);
        begin = max(begin, key_ranges[at]);
        end = min(end, key_ranges[at + 1u]);
    }
    return begin < end ? Keys(uint(begin), uint(end - begin)) : Keys(0u, 0u);
}

// Of four keys from `key`.
bvec4 are_allowed(uint key, Keys allowed) {
    return lessThan(uvec4(key - allowed.begin) + uvec4(0u, 1u, 2u, 3u), uvec4(allowed.count));
}
