// How an op with several gradient outputs is told where they go.
#pragma once

#include "autograd/variable.h"

namespace headscope {

// Points an op's gradient output at that of `at`; leaves it undefined where `at` wants none.
inline void aim(Backend& backend, const Var& at, Tensor& tensor, Write& write) {
    if (at.requires_grad()) {
        const GradientTarget to = at.gradient_target(backend);
        tensor = to.tensor;
        write = to.write;
    }
}

}  // namespace headscope
