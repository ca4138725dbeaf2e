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

// Of a product that writes a gradient.
inline float beta_for(Write write) {
    return write == Write::Overwrite ? 0.0F : 1.0F;
}

}  // namespace headscope
