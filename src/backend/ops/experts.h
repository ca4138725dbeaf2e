// A mixture of experts: which tokens go to which expert, and the backward of that. Shazeer et al., 2017; with a
// capacity for each expert Lepikhin et al. (GShard), 2021. Contiguous operands.
//
// Each expert has `capacity` slots of one token. Slots are counted through all experts: slot s belongs to expert
// s / capacity, rounded down.
#pragma once

#include "backend/choices.h"
#include "backend/declarations.h"
#include "tensor/tensor.h"

namespace headscope {

// p = softmax(logits) of each token. It chooses the experts of its largest logits, largest first, of equal ones the
// lower. The weight of a choice is its p over the sum of the token's chosen p; of one choice p itself (Fedus et al.,
// 2022). First choices of all tokens in their order, then second ones, take the slots of their expert in turn; slots[t,
// j] is -1 if none is left. Padding, positions from lengths[b] on, gets no slot and has no part in shares and sums. A
// slot has
//   sources: its token, counted through the batch, or -1 if it is empty,
//   weights: that of the choice, or 0,
//   keys:    a number that the token's sentence (by `ordinals`), position and choice decide: (65536 ordinal + position)
//            * choices + j, modulo 2^32, for dropout (DropoutRule::ordinals); or 0.
// shares[e] is the share of tokens whose first choice is e, and sums[e] the sum of p[e] over all tokens.
struct RouteTokens {
    static constexpr const char* kName = "route_tokens";
    Tensor logits, lengths = {}, ordinals = {};
    Tensor probabilities, chosen, slots;  // kept for backward
    Tensor sources, weights, keys = {}, shares, sums;

    void declare(Declarations& d) const {
        d.in("logits", logits, {"batch", "length", "experts"}).full();
        d.in("lengths", lengths, {"batch"}).index().optional();
        d.in("ordinals", ordinals, {"batch"}).index().optional();
        d.out("probabilities", probabilities).like(logits).full();
        d.out("chosen", chosen, {"batch", "length", "choices"}).index();
        d.out("slots", slots, {"batch", "length", "choices"}).index();
        d.out("sources", sources, {"experts", "capacity"}).index();
        d.out("weights", weights, {"experts", "capacity"}).full();
        d.out("keys", keys, {"experts", "capacity"}).index().optional();
        d.out("shares", shares, {"experts"}).full();
        d.out("sums", sums, {"experts"}).full();
    }
};

// The gradient of the logits from those of the weights and of the sums. Choices without a slot have none, but still
// share the sum that divides the weights. That of padding is 0.
struct RouteTokensBackward {
    static constexpr const char* kName = "route_tokens_backward";
    Tensor probabilities, lengths = {}, chosen, slots;
    Tensor grad_weights, grad_sums = {};
    Tensor grad_logits;
    Write write = Write::Overwrite;

    void declare(Declarations& d) const {
        d.in("probabilities", probabilities, {"batch", "length", "experts"}).full();
        d.in("lengths", lengths, {"batch"}).index().optional();
        d.in("chosen", chosen, {"batch", "length", "choices"}).index();
        d.in("slots", slots, {"batch", "length", "choices"}).index();
        d.in("grad_weights", grad_weights, {"experts", "capacity"}).full();
        d.in("grad_sums", grad_sums, {"experts"}).full().optional();
        d.gradient("grad_logits", grad_logits, write).like(probabilities).full();
    }
};

// out[s] = weights[s] * x[sources[s]], without weights x[sources[s]]; 0 where a source is outside [0, tokens). With
// `others` also dots[s] = others[s] . x[sources[s]], or 0: both together are the backward of MixExperts, whose x is
// `others`.
struct TakeTokens {
    static constexpr const char* kName = "take_tokens";
    Tensor x, sources, weights = {}, others = {};
    Tensor out, dots = {};

    void declare(Declarations& d) const {
        d.in("x", x, {"tokens", "columns"});
        d.in("sources", sources, {"slots"}).index();
        d.in("weights", weights, {"slots"}).full().optional();
        d.in("others", others, {"slots", "columns"}).optional();
        d.out("out", out, {"slots", "columns"});
        d.out("dots", dots, {"slots"}).full().optional();
    }
};

// out[t] = the sum over j of weights[s] * x[s], without weights of x[s], with s = slots[t, j]; those outside [0, slots)
// are left out. Without weights it is the backward of TakeTokens.
struct MixExperts {
    static constexpr const char* kName = "mix_experts";
    Tensor x, slots, weights = {}, out;
    Write write = Write::Overwrite;

    void declare(Declarations& d) const {
        d.in("x", x, {"slots", "columns"});
        d.in("slots", slots, {"tokens", "choices"}).index();
        d.in("weights", weights, {"slots"}).full().optional();
        d.gradient("out", out, write, {"tokens", "columns"});
    }
};

}  // namespace headscope
