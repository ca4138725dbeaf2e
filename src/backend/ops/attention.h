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
    Tensor weights;       // [batch, heads, queries, keys], from the forward
    Tensor grad_weights;  // as weights
    Tensor grad_scores;   // out, as weights
    Write write = Write::Overwrite;
};

// Attention weights as somebody wants them instead: row [b, h, i, :] by rules[h, i], which is one of the names below or
// the number of a key. weights may be out. Contiguous. For looking into a model alone: there is no way back.
struct EditAttention {
    static constexpr const char* kName = "edit_attention";
    static constexpr std::int32_t kKeep = -1;  // the row as it is, as for any number that means nothing
    static constexpr std::int32_t kOff = -2;   // all 0
    static constexpr std::int32_t kUniform =
        -3;  // the same weight on every key that the mask allows, exactly 0 elsewhere
    // k >= 0: 1 on key k, exactly 0 elsewhere; all 0 where the mask forbids k, or there is no such key.

    Tensor weights;  // [batch, heads, queries, keys]
    Tensor rules;    // I32 [heads, queries]
    Tensor out;      // out, as weights
    AttentionMask mask = {};
};

// cache[b, h, *position + i, :] = x[b, h, i, :]. Operands may be strided. Entries whose row would lie past the cache
// are not written.
struct CacheAppend {
    static constexpr const char* kName = "cache_append";
    Tensor x;         // [batch, heads, length, depth]
    Tensor position;  // I32 [1] on the device
    Tensor cache;     // out [batch, heads, capacity, depth]
};

// out = x where at least one of the queries may look at the key, else exactly 0, even where x is NaN or infinite. For
// products with masked weights: a weight of 0 does not cancel a NaN. x may be strided.
struct MaskKeys {
    static constexpr const char* kName = "mask_keys";
    Tensor x;    // T [batch, heads, keys, depth]
    Tensor out;  // out T, as x, contiguous
    AttentionMask mask = {};
    std::int64_t queries = 0;  // at least 1
};

// Fused, with a composition as its default body: out = Dropout(softmax(scale * Q . K^T under the mask)) . V, equation
// 1, without the weights ever being seen. A query with no allowed key gives a row of exactly 0. A key that no query may
// look at (padding, the unused end of a cache) does not matter, whatever k and v hold there, NaN and infinity included;
// the same goes for AttentionBackward. Operands may be strided.
struct Attention {
    static constexpr const char* kName = "attention";
    Tensor q;    // T [batch, heads, queries, d_k]
    Tensor k;    // T [batch, heads, keys, d_k]
    Tensor v;    // T [batch, heads, keys, d_v]
    Tensor out;  // out T [batch, heads, queries, d_v]
    // out [batch, heads, queries], optional and contiguous: log of the sum of exp of a row's allowed, scaled scores,
    // -inf where there is none. For AttentionBackward on the same backend alone: one that composes leaves it as it was.
    Tensor log_sums = {};
    AttentionMask mask = {};
    float scale = 1.0F;
    DropoutRule dropout = {};  // on the weights, columns are keys
    // As Matmul's, of which the weights are operands, too; but a licence, not a duty: a kernel that gains nothing by
    // rounding its F32 operands does not.
    Compute compute = Compute::F32;
};

// From the gradient of Attention's out to those of q, k and v. Fused, with a composition as its default body: it makes
// the weights once more. A query with no allowed key gives and gets exactly 0. Operands may be strided.
struct AttentionBackward {
    static constexpr const char* kName = "attention_backward";
    Tensor q;            // T [batch, heads, queries, d_k], with k, v and all below as in the forward
    Tensor k;            // T [batch, heads, keys, d_k]
    Tensor v;            // T [batch, heads, keys, d_v]
    Tensor out;          // T [batch, heads, queries, d_v], what Attention wrote
    Tensor grad_out;     // T, as out
    Tensor log_sums;     // [batch, heads, queries], what Attention left there
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
