// Batch normalisation (Ioffe and Szegedy, 2015): each column of [batch, length, columns] by itself, over all positions
// that are no padding. Contiguous operands.
#pragma once

#include "backend/choices.h"
#include "backend/declarations.h"
#include "tensor/tensor.h"

namespace headscope {

// y = gain * (x - mean) * rstd + bias, with rstd = 1 / sqrt(variance + epsilon). If it `measures`, mean and variance
// are those of x at the n positions before lengths[b], the variance divided by n; if n > 1 the running ones then move
// towards them, running += momentum * (measured - running), the variance as divided by n - 1. Otherwise, as after
// training, they are the running ones. Without any position the measured ones are 0.
struct BatchNorm {
    static constexpr const char* kName = "batch_norm";
    Tensor x, lengths = {}, gain, bias, running_mean, running_variance, y;
    Tensor mean, rstd;  // kept for backward
    float epsilon = 1e-6F;
    float momentum = 0.1F;
    bool measures = true;

    void declare(Declarations& d) const {
        d.in("x", x, {"batch", "length", "columns"});
        d.in("lengths", lengths, {"batch"}).index().optional();
        d.in("gain", gain, {"columns"}).full();
        d.in("bias", bias, {"columns"}).full();
        const auto running = [&](const char* name, const Tensor& tensor) {
            (measures ? d.in_out(name, tensor, {"columns"}) : d.in(name, tensor, {"columns"})).full();
        };
        running("running_mean", running_mean);
        running("running_variance", running_variance);
        d.out("y", y).like(x);
        d.out("mean", mean, {"columns"}).full();
        d.out("rstd", rstd, {"columns"}).full();
    }
};

// With n = (x - mean) * rstd: grad_bias and grad_gain are the sums of grad_y and of grad_y * n over all positions, and
// grad_x = gain * rstd * (grad_y - (grad_bias + n * grad_gain) / count), where the second term is for the `count`
// positions that were measured.
struct BatchNormBackward {
    static constexpr const char* kName = "batch_norm_backward";
    Tensor x, lengths = {}, gain, mean, rstd, grad_y, grad_x = {}, grad_gain, grad_bias;
    bool measures = true;
    Write write_x = Write::Overwrite;
    Write write_gain = Write::Overwrite;
    Write write_bias = Write::Overwrite;

    void declare(Declarations& d) const {
        d.in("x", x, {"batch", "length", "columns"});
        d.in("lengths", lengths, {"batch"}).index().optional();
        d.in("gain", gain, {"columns"}).full();
        d.in("mean", mean, {"columns"}).full();
        d.in("rstd", rstd, {"columns"}).full();
        d.in("grad_y", grad_y).like(x);
        d.gradient("grad_x", grad_x, write_x).like(x).optional();
        d.gradient("grad_gain", grad_gain, write_gain, {"columns"}).full();
        d.gradient("grad_bias", grad_bias, write_bias, {"columns"}).full();
    }
};

}  // namespace headscope
