// Convolutions along the positions of a text: neighbours side by side, which a product then mixes, or their weighted
// sum. Contiguous operands.
#pragma once

#include "backend/choices.h"
#include "backend/declarations.h"
#include "tensor/tensor.h"

namespace headscope {

// Tap j of position i is position i + first + j * step. A tap outside [0, length) is 0. With `lengths`, positions from
// lengths[b] on are padding: they are read as 0 and written as 0. With `ranges` position i reads only taps in
// [ranges[b, i, 0], ranges[b, i, 1]), those of its document; others are 0.
//
// out[b, i, j * channels + c] = x[b, tap j of i, c]: what a convolution of `taps` neighbours multiplies by one matrix
// (Chellapilla, Puri and Simard, 2006). `positions` differs from `length` if only some outputs are wanted.
struct Unfold {
    static constexpr const char* kName = "unfold";
    Tensor x, lengths = {}, ranges = {}, out;
    std::int64_t taps = 1;
    std::int64_t first = 0;
    std::int64_t step = 1;

    void declare(Declarations& d) const {
        d.in("x", x, {"batch", "length", "channels"});
        d.in("lengths", lengths, {"batch"}).index().optional();
        d.in("ranges", ranges, {"batch", "positions", 2}).index().optional();
        d.out("out", out, {"batch", "positions", taps * (x.rank() == 3 ? x.dim(2) : 0)});
    }
};

// out[b, i, c] = sum over taps j of x[b, tap j of i, j * channels + c]: the gradient of Unfold, with its step negated
// and its first tap as many places on the other side. With `weights` all taps read the same channels, out[b, i, c] =
// sum over j of weights[j, c] * x[b, tap j of i, c]: a convolution of each channel by itself (depthwise; Sifre, 2014)
// and, turned around in the same way, its gradient for x.
struct SumTaps {
    static constexpr const char* kName = "sum_taps";
    Tensor x, weights = {}, lengths = {}, ranges = {}, out;
    std::int64_t taps = 1;
    std::int64_t first = 0;
    std::int64_t step = 1;
    Write write = Write::Overwrite;

    void declare(Declarations& d) const {
        const std::int64_t channels = out.rank() == 3 ? out.dim(2) : 0;
        d.in("x", x, {"batch", "length", weights.defined() ? channels : taps * channels});
        d.in("weights", weights, {taps, channels}).full().optional();
        d.in("lengths", lengths, {"batch"}).index().optional();
        d.in("ranges", ranges, {"batch", "positions", 2}).index().optional();
        d.gradient("out", out, write, {"batch", "positions", channels});
    }
};

}  // namespace headscope
