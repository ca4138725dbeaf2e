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
const uint kWindowShift = 4u;

Keys keys_from_to(int begin, int end) {
    return begin < end ? Keys(uint(begin), uint(end - begin)) : Keys(0u, 0u);
}

// The position of a head's first query. What is farther away cannot differ, but might overflow.
int query_position() {
    int before = (p.mask & kHasOffset) != 0u ? query_offset[p.offset[binding_query_offset]] : 0;
    return clamp(before, -(1 << 30), 1 << 30);
}

// From the first to the last key that one of the rows [first, last] of one head may see, whatever the ranges.
Keys allowed_between(uint first, uint last) {
    int begin = 0;
    int end = int(p.keys);
    if ((p.mask & kHasLengths) != 0u) {
        end = min(end, key_lengths[p.offset[binding_key_lengths] + first / (p.heads * p.queries)]);
    }
    if ((p.mask & kIsCausal) != 0u) {
        end = min(end, query_position() + int(last % p.queries) + 1);
    }
    if (p.mask >> kWindowShift != 0u) {
        int window = int(p.mask >> kWindowShift);
        begin = max(begin, query_position() + int(first % p.queries) - window + 1);
        end = min(end, query_position() + int(last % p.queries) + window);
    }
    return keys_from_to(begin, end);
}

Keys allowed_keys(uint row) {
    Keys keys = allowed_between(row, row);
    if ((p.mask & kHasRanges) != 0u) {
        uint at = p.offset[binding_key_ranges] + 2u * (row / (p.heads * p.queries) * p.queries + row % p.queries);
        int begin = int(keys.begin);
        int end = int(keys.begin + keys.count);
        begin = max(begin, key_ranges[at]);
        end = min(end, key_ranges[at + 1u]);
        return keys_from_to(begin, end);
    }
    return keys;
}

// Of four keys from `key`.
bvec4 are_allowed(uint key, Keys allowed) {
    return lessThan(uvec4(key - allowed.begin) + uvec4(0u, 1u, 2u, 3u), uvec4(allowed.count));
}

// Whether some query of the head whose first row this is may see the key.
bool is_seen(uint key, uint first_row) {
    if ((p.mask & kHasRanges) == 0u) {
        return are_allowed(key, allowed_between(first_row, first_row + p.queries - 1u)).x;
    }
    for (uint i = 0u; i < p.queries; ++i) {
        // In self-attention the query at the key's own position sees it, so that is the first to look at.
        if (are_allowed(key, allowed_keys(first_row + (key + i) % p.queries)).x) {
            return true;
        }
    }
    return false;
}
