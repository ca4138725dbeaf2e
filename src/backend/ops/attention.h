// The parts of attention between and around its two products. Paper 3.2.
#pragma once

#include "backend/ops/common.h"
#include "backend/ops/matmul.h"

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
    Tensor weights;       // [batch, heads, queries, keys], from forward
    Tensor grad_weights;  // as weights
    Tensor grad_scores;   // out, as weights
    Write write = Write::Overwrite;
};

// Replaces rows of attention weights: row [b, h, i, :] by rules[h, i], one of the constants below or a key's number.
// weights may be out. Contiguous. For inspecting a model; it has no backward.
struct EditAttention {
    static constexpr const char* kName = "edit_attention";
    static constexpr std::int32_t kKeep = -1;     // unchanged, as for any other unknown number
    static constexpr std::int32_t kOff = -2;      // all 0
    static constexpr std::int32_t kUniform = -3;  // the same weight on every allowed key, exactly 0 elsewhere
    // k >= 0: 1 on key k, exactly 0 elsewhere; all 0 if the mask forbids k or there is no such key.

    Tensor weights;  // [batch, heads, queries, keys]
    Tensor rules;    // I32 [heads, queries]
    Tensor out;      // out, as weights
    AttentionMask mask = {};
};

// cache[b, h, *position + i, :] = x[b, h, i, :]. Operands may be strided. Rows past the end of the cache are not
// written.
struct CacheAppend {
    static constexpr const char* kName = "cache_append";
    Tensor x;         // [batch, heads, length, depth]
    Tensor position;  // I32 [1] on the device
    Tensor cache;     // out [batch, heads, capacity, depth]
};

// out = x for keys that at least one query may see, else exactly 0, even if x is NaN or infinite. For products with
// masked weights: a weight of 0 does not cancel a NaN. x may be strided.
struct MaskKeys {
    static constexpr const char* kName = "mask_keys";
    Tensor x;    // T [batch, heads, keys, depth]
    Tensor out;  // out T, as x, contiguous
    AttentionMask mask = {};
    std::int64_t queries = 0;  // at least 1
};

// Fused, with a composition as default: out = Dropout(softmax(scale * Q . K^T under the mask)) . V, equation 1, without
// materialising the weights. A query with no allowed key gives a row of exactly 0. Keys that no query may see (padding,
// the unused end of a cache) have no effect, even if k and v hold NaN or infinity there; this also holds for
// AttentionBackward. Operands may be strided.
struct Attention {
    static constexpr const char* kName = "attention";
    Tensor q;    // T [batch, heads, queries, d_k]
    Tensor k;    // T [batch, heads, keys, d_k]
    Tensor v;    // T [batch, heads, keys, d_v]
    Tensor out;  // out T [batch, heads, queries, d_v]
    // out [batch, heads, queries], optional and contiguous: log of the sum of exp of a row's allowed, scaled scores,
    // -inf if there are none. Only for AttentionBackward on the same backend; a backend that composes does not write
    // it.
    Tensor log_sums = {};
    AttentionMask mask = {};
    float scale = 1.0F;
    DropoutRule dropout = {};  // on the weights, columns are keys
    // Like Matmul's, with the weights as operands too; but rounding F32 operands is allowed here, not required.
    Compute compute = Compute::F32;
};

// The gradients of q, k and v from that of Attention's out. Fused, with a composition as default, which recomputes the
// weights. A query with no allowed key contributes and receives exactly 0. Operands may be strided.
struct AttentionBackward {
    static constexpr const char* kName = "attention_backward";
    Tensor q;            // T [batch, heads, queries, d_k]; k, v and all below as in forward
    Tensor k;            // T [batch, heads, keys, d_k]
    Tensor v;            // T [batch, heads, keys, d_v]
    Tensor out;          // T [batch, heads, queries, d_v], written by Attention
    Tensor grad_out;     // T, as out
    Tensor log_sums;     // [batch, heads, queries], written by Attention
    Tensor grad_q = {};  // out T, as q, optional
    Tensor grad_k = {};  // out T, as k, optional
    Tensor grad_v = {};  // out T, as v, optional
    Write write_q = Write::Overwrite;
    Write write_k = Write::Overwrite;
    Write write_v = Write::Overwrite;
    AttentionMask mask = {};
    float scale = 1.0F;
    DropoutRule dropout = {};
    Compute compute = Compute::F32;
};

}  // namespace headscope
