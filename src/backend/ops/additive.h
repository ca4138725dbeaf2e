// The scores of additive attention (Bahdanau, Cho and Bengio, 2015), which section 3.2.1 compares with dot products.
#pragma once

#include "backend/choices.h"
#include "backend/declarations.h"
#include "tensor/tensor.h"

namespace headscope {

// scores[b, h, i, j] = sum over d of gain[h, d] * tanh(q[b, h, i, d] + k[b, h, j, d]).
struct AdditiveScores {
    static constexpr const char* kName = "additive_scores";
    Tensor q, k, gain, scores;

    void declare(Declarations& d) const {
        d.in("q", q, {"batch", "heads", "queries", "d_k"}).strided();
        d.in("k", k, {"batch", "heads", "keys", "d_k"}).strided();
        d.in("gain", gain, {"heads", "d_k"}).full();
        d.out("scores", scores, {"batch", "heads", "queries", "keys"});
    }
};

// The gradient of either side: x is q and `others` k, or the other way round with `of_keys`. With g the gradient of the
// score of i and j, and t = tanh(x[b, h, i, d] + others[b, h, j, d]),
//   grad_x[b, h, i, d] = gain[h, d] * sum over j of g (1 - t^2)
//   products[b, i, h, d] = sum over j of g t, the rows of which add up to the gradient of gain, from either side.
struct AdditiveScoresBackward {
    static constexpr const char* kName = "additive_scores_backward";
    Tensor x, others, gain, grad_scores;
    Tensor grad_x, products = {};
    bool of_keys = false;
    Write write = Write::Overwrite;

    void declare(Declarations& d) const {
        d.in("x", x, {"batch", "heads", "rows", "d_k"}).strided();
        d.in("others", others, {"batch", "heads", "others", "d_k"}).strided();
        d.in("gain", gain, {"heads", "d_k"}).full();
        d.in("grad_scores", grad_scores, {"batch", "heads", of_keys ? "others" : "rows", of_keys ? "rows" : "others"});
        d.gradient("grad_x", grad_x, write).like(x).strided();
        d.out("products", products, {"batch", "rows", "heads", "d_k"}).full().optional();
    }
};

}  // namespace headscope
