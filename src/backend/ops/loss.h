// Cross-entropy with label smoothing, and its gradient, in one pass over a row. Paper 5.4.
#pragma once

#include "backend/choices.h"
#include "backend/declarations.h"
#include "tensor/tensor.h"

namespace headscope {

// For each row with target t >= 0 and p = softmax(logits):
//   q[c] = the smoothed target distribution,  loss = -sum q[c] log p[c],  nll = -log p[t],
//   grad = grad_scale * (p - q), since F16 would lose small gradients; the loss is not scaled.
// A row's weight multiplies its loss, its nll and its gradient; it may be negative or 0, as of policy gradients. With 0
// a row whose loss is infinite or NaN is NaN: only a target of -1 (a pad) leaves a row out, with loss 0, nll 0 and a
// gradient row of zeros. Loss is not reduced by its own minimum. With a prior the mass follows it instead of being
// spread evenly: q = (1 - epsilon) onehot(t) + epsilon prior, such as the unigram distribution (Pereyra et al. 2017). A
// class that the prior rules out and that is not the target costs nothing, even if it is forbidden (a logit of -inf).
struct SmoothedCrossEntropy {
    static constexpr const char* kName = "smoothed_cross_entropy";
    Tensor logits;
    Tensor targets;  // outside [-1, classes) gives a row of NaN
    Tensor loss, nll, grad_logits = {};
    Tensor grad_scale = {};  // absent: 1; StepScalars::LossScale
    Tensor prior = {};       // >= 0, sums to 1; absent: even. Only with AllClasses
    Tensor weights = {};     // absent: 1 each
    float epsilon = 0.0F;    // 0.1 in the paper
    Smoothing smoothing = Smoothing::AllClasses;

    void declare(Declarations& d) const {
        d.in("logits", logits, {"rows", "classes"});
        d.in("targets", targets, {"rows"}).index();
        d.out("loss", loss, {"rows"}).full();
        d.out("nll", nll, {"rows"}).full();
        d.out("grad_logits", grad_logits).like(logits).may_be(logits).optional();
        d.in("grad_scale", grad_scale, {1}).full().optional();
        d.in("prior", prior, {"classes"}).full().optional();
        d.in("weights", weights, {"rows"}).full().optional();
    }
};

}  // namespace headscope
