// What a pass forward and one back cost.
#pragma once

#include <cstddef>
#include <functional>

#include "autograd/tape.h"
#include "autograd/variable.h"

namespace headscope {

struct PassCost {
    double forward_seconds = 0.0, backward_seconds = 0.0;  // medians
    std::size_t bytes = 0;                                 // that the forward pass keeps for the backward pass
};

// Medians over at least `repeat` runs of `forward`, which records on the tape, and of its backward pass. `forget` drops
// the gradients that a backward pass left.
PassCost measure_passes(Backend& backend, int repeat, const std::function<Var(Tape&)>& forward,
                        const std::function<void()>& forget);

// Independent numbers with mean 0 and variance 1, the same for each shape and stream.
Tensor unit_noise(Backend& backend, const Shape& shape, std::uint64_t stream = 0);

}  // namespace headscope
