// The parts of attention between and around its two products. Paper 3.2.
#pragma once

#include "backend/ops/common.h"

namespace headscope {

// Which keys a query may look at: key j of sentence b is allowed for query i iff
//   j < key_lengths[b]  (when given)  and  j <= query_offset + i  (when causal).
// A rule, never a matrix of -1e9.
struct AttentionMask {
    Tensor key_lengths = {};  // I32 [batch], optional
    bool causal = false;
    Tensor query_offset = {};  // I32 [1] on the device, optional (0): the cache length while decoding
};

// weights = softmax over the allowed keys of each query; a forbidden entry is exactly 0, and so is a whole row with no
// allowed key. weights may be scores. Contiguous.
struct MaskedSoftmax {
    static constexpr const char* kName = "masked_softmax";
    Tensor scores;   // [batch, heads, queries, keys]
    Tensor weights;  // out, as scores
    AttentionMask mask = {};
};

// grad_scores = weights * (grad_weights - sum over keys of weights * grad_weights). grad_scores may be grad_weights.
struct MaskedSoftmaxBackward {
    static constexpr const char* kName = "masked_softmax_backward";
    Tensor weights;       // [batch, heads, queries, keys], from the forward
    Tensor grad_weights;  // as weights
    Tensor grad_scores;   // out, as weights
    Write write = Write::Overwrite;
};

// cache[b, h, *position + i, :] = x[b, h, i, :]. Operands may be strided. Entries whose row would lie past the cache
// are not written.
struct CacheAppend {
    static constexpr const char* kName = "cache_append";
    Tensor x;         // [batch, heads, length, depth]
    Tensor position;  // I32 [1] on the device
    Tensor cache;     // out [batch, heads, capacity, depth]
};

// Fused, with a composition as its default body: out = softmax(scale * Q . K^T under the mask) . V, equation 1, without
// the weights ever being seen. Operands may be strided.
struct Attention {
    static constexpr const char* kName = "attention";
    Tensor q;    // [batch, heads, queries, d_k]
    Tensor k;    // [batch, heads, keys, d_k]
    Tensor v;    // [batch, heads, keys, d_v]
    Tensor out;  // [batch, heads, queries, d_v]
    AttentionMask mask = {};
    float scale = 1.0F;
};

}  // namespace headscope
