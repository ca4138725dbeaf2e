// Tells an op with several gradient outputs where to write them.
#pragma once

#include "autograd/variable.h"

namespace headscope {

// Points an op's gradient output at the gradient of `at`, or leaves it undefined if `at` does not require one.
inline void aim(Backend& backend, const Var& at, Tensor& tensor, Write& write) {
    if (at.requires_grad()) {
        const GradientTarget to = at.gradient_target(backend);
        tensor = to.tensor;
        write = to.write;
    }
}

// The same for an op that always writes this gradient: one that nobody wants goes to a tensor that is dropped.
inline void aim_always(Backend& backend, const Var& at, Tensor& tensor, Write& write) {
    aim(backend, at, tensor, write);
    if (!at.requires_grad()) {
        tensor = backend.empty(at.shape(), backend.full_dtype());
    }
}

// Of a product that writes a gradient.
inline float beta_for(Write write) {
    return write == Write::Overwrite ? 0.0F : 1.0F;
}

}  // namespace headscope
