// How many keys a row of [batch, heads, queries] may see: every AttentionMask allows a prefix. Include after the push
// constants `p`; the kernel has the bindings key_lengths and query_offset.
layout(set = 0, binding = binding_key_lengths) readonly buffer KeyLengths { int key_lengths[]; };
layout(set = 0, binding = binding_query_offset) readonly buffer QueryOffset { int query_offset[]; };

uint allowed_keys(uint row) {
    int allowed = int(p.keys);
    if (p.has_lengths != 0u) {
        allowed = min(allowed, key_lengths[p.offset[binding_key_lengths] + row / (p.heads * p.queries)]);
    }
    if (p.causal != 0u) {
        int before = p.has_offset != 0u ? query_offset[p.offset[binding_query_offset]] : 0;
        // Compared without adding to what may be the largest integer.
        int query = int(row % p.queries);
        allowed = before < allowed - query - 1 ? before + query + 1 : allowed;
    }
    return uint(max(allowed, 0));
}
