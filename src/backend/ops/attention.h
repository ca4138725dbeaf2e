// The parts of attention between and around its two products. Paper 3.2.
#pragma once

#include <cstdint>

#include "backend/attention_mask.h"
#include "backend/choices.h"
#include "backend/declarations.h"
#include "backend/dropout_rule.h"
#include "tensor/tensor.h"

namespace headscope {

// weights = softmax over the allowed keys of each query; a forbidden entry is exactly 0, and so is a whole row with no
// allowed key. weights may be scores. With by_distance, of 2 D + 1 rows, the score of key j for query i is
//   scores[b, h, i, j] + by_distance[clamp(j - (query_offset + i), -D, D) + D, h].
// Contiguous.
struct MaskedSoftmax {
    static constexpr const char* kName = "masked_softmax";
    Tensor scores, weights;
    AttentionMask mask = {};
    Tensor by_distance = {};

    void declare(Declarations& d) const {
        d.in("scores", scores, {"batch", "heads", "queries", "keys"});
        d.out("weights", weights).like(scores).may_be(scores);
        mask.declare(d);
        d.in("by_distance", by_distance, {"distances", "heads"}).full().optional();
    }
};

// grad_scores = weights * (grad_weights - sum over keys of weights * grad_weights). grad_scores may be grad_weights.
struct MaskedSoftmaxBackward {
    static constexpr const char* kName = "masked_softmax_backward";
    Tensor weights;  // from forward
    Tensor grad_weights, grad_scores;
    Write write = Write::Overwrite;

    void declare(Declarations& d) const {
        d.in("weights", weights, {"batch", "heads", "queries", "keys"});
        d.in("grad_weights", grad_weights).like(weights);
        d.gradient("grad_scores", grad_scores, write).like(weights).may_be(grad_weights);
    }
};

// sums[b, d, h] = the sum over i of x[b, h, i, i + d - (queries - 1)]: of all pairs of a query and a key at one
// distance, in the order of the queries. For the gradient of what MaskedSoftmax adds by distance. Contiguous.
struct SumDiagonals {
    static constexpr const char* kName = "sum_diagonals";
    Tensor x, sums;

    // The number of distances.
    static constexpr std::int64_t count(std::int64_t queries, std::int64_t keys) {
        return queries + keys > 0 ? queries + keys - 1 : 0;
    }

    void declare(Declarations& d) const {
        d.in("x", x, {"batch", "heads", "queries", "keys"});
        d.out("sums", sums, {"batch", x.rank() == 4 ? count(x.dim(2), x.dim(3)) : 0, "heads"}).full();
    }
};

// Replaces rows of attention weights: row [b, h, i, :] by rules[h, i], one of the constants below or a key's number.
// weights may be out. Contiguous. For inspecting a model; it has no backward.
struct EditAttention {
    static constexpr const char* kName = "edit_attention";
    static constexpr std::int32_t kKeep = -1;     // unchanged, as for any other unknown number
    static constexpr std::int32_t kOff = -2;      // all 0
    static constexpr std::int32_t kUniform = -3;  // the same weight on every allowed key, exactly 0 elsewhere
    // k >= 0: 1 on key k, exactly 0 elsewhere; all 0 if the mask forbids k or there is no such key.

    Tensor weights, rules, out;
    AttentionMask mask = {};

    void declare(Declarations& d) const {
        d.in("weights", weights, {"batch", "heads", "queries", "keys"});
        d.in("rules", rules, {"heads", "queries"}).index();
        d.out("out", out).like(weights).may_be(weights);
        mask.declare(d);
    }
};

// cache[b, h, *position + i, :] = x[b, h, i, :]. Operands may be strided. Rows past the end of the cache are not
// written.
struct CacheAppend {
    static constexpr const char* kName = "cache_append";
    Tensor x, position, cache;

    void declare(Declarations& d) const {
        d.in("x", x, {"batch", "heads", "length", "depth"}).strided();
        d.in("position", position, {1}).index();
        d.out("cache", cache, {"batch", "heads", "capacity", "depth"}).strided().partial();
    }
};

// out = x for keys that at least one query may see, else exactly 0, even if x is NaN or infinite. For products with
// masked weights: a weight of 0 does not cancel a NaN. x may be strided.
struct MaskKeys {
    static constexpr const char* kName = "mask_keys";
    Tensor x, out;
    AttentionMask mask = {};
    std::int64_t queries = 0;  // at least 1

    void declare(Declarations& d) const {
        d.in("x", x, {"batch", "heads", "keys", "depth"}).strided();
        d.out("out", out).like(x);
        mask.declare(d, queries);
    }
};

// Fused, with a composition as default: out = Dropout(softmax(scale * Q . K^T under the mask)) . V, equation 1, without
// materialising the weights. Neighbouring heads may share keys and values: head h reads those of group h / (heads /
// groups) (grouped queries, Ainslie et al., 2023). A query with no allowed key gives a row of exactly 0. Keys that no
// query may see (padding, the unused end of a cache) have no effect, even if k and v hold NaN or infinity there; this
// also holds for AttentionBackward. A NaN or infinity that some query sees may spoil its whole head. Operands may be
// strided.
struct Attention {
    static constexpr const char* kName = "attention";
    Tensor q, k, v, out;
    // out [batch, heads, queries], optional and contiguous: log of the sum of exp of a row's allowed, scaled scores,
    // -inf if there are none. Only for AttentionBackward on the same backend; a backend that composes does not write
    // it.
    Tensor log_sums = {};
    AttentionMask mask = {};
    // I32 [keys, batch]: key j and its value of sentence b are those of row key_rows[j, b] of k and v, which then have
    // any number of rows. So hypotheses of a beam share what they have in common (as FasterTransformer's cache
    // indirection). Every entry of a key that some query may see is a row that there is; others may be anything.
    // AttentionBackward has none. Absent: row b.
    Tensor key_rows = {};
    float scale = 1.0F;
    DropoutRule dropout = {};  // on the weights, columns are keys
    // Like Matmul's, with the weights as operands too; but rounding F32 operands is allowed here, not required.
    Compute compute = Compute::F32;

    void declare(Declarations& d) const {
        const Dim rows = key_rows.defined() ? "rows" : "batch";
        d.in("q", q, {"batch", "heads", "queries", "d_k"}).strided();
        d.in("k", k, {rows, "groups", "keys", "d_k"}).strided();
        d.in("v", v, {rows, "groups", "keys", "d_v"}).strided();
        d.out("out", out, {"batch", "heads", "queries", "d_v"}).strided();
        d.out("log_sums", log_sums, {"batch", "heads", "queries"}).full().optional().partial();
        d.in("key_rows", key_rows, {"keys", "batch"}).index().optional();
        mask.declare(d);
        dropout.declare(d, q);
    }
};

// The gradients of q, k and v from that of Attention's out; of k and v the sums over the heads of each group. Fused,
// with a composition as default, which recomputes the weights. A query with no allowed key contributes and receives
// exactly 0. Operands may be strided.
struct AttentionBackward {
    static constexpr const char* kName = "attention_backward";
    Tensor q, k, v;
    Tensor out;  // from forward
    Tensor grad_out;
    Tensor log_sums;  // from forward
    Tensor grad_q = {}, grad_k = {}, grad_v = {};
    Write write_q = Write::Overwrite;
    Write write_k = Write::Overwrite;
    Write write_v = Write::Overwrite;
    AttentionMask mask = {};
    float scale = 1.0F;
    DropoutRule dropout = {};
    Compute compute = Compute::F32;

    void declare(Declarations& d) const {
        d.in("q", q, {"batch", "heads", "queries", "d_k"}).strided();
        d.in("k", k, {"batch", "groups", "keys", "d_k"}).strided();
        d.in("v", v, {"batch", "groups", "keys", "d_v"}).strided();
        d.in("out", out, {"batch", "heads", "queries", "d_v"}).strided();
        d.in("grad_out", grad_out).like(out).strided();
        d.in("log_sums", log_sums, {"batch", "heads", "queries"}).full();
        d.gradient("grad_q", grad_q, write_q).like(q).strided().optional();
        d.gradient("grad_k", grad_k, write_k).like(k).strided().optional();
        d.gradient("grad_v", grad_v, write_v).like(v).strided().optional();
        mask.declare(d);
        dropout.declare(d, q);
    }
};

// How many heads share each group's keys and values.
template <class Op>
std::int64_t heads_of_group(const Op& op) {
    return op.k.dim(1) == 0 ? 1 : op.q.dim(1) / op.k.dim(1);
}

}  // namespace headscope
