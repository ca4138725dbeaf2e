// Adam over the flat buffers of all parameters, without a word read back by the host. Paper 5.3.
#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "model/parameters.h"

namespace headscope {

struct OptimizerOptions {
    float beta1 = 0.9F;
    float beta2 = 0.98F;
    float epsilon = 1e-9F;
    float clip_norm = 0.0F;  // of the divided gradient; 0: no clipping
};

class Optimizer {
public:
    Optimizer(Backend& backend, const Parameters& parameters, const OptimizerOptions& options);

    // Enqueues step `step` (from 1): the gradients, sums over `target_tokens`, are divided once, clipped, and applied.
    // A gradient that is not finite changes nothing; the Skip scalar says so.
    void step(std::int64_t step, double learning_rate, std::int64_t target_tokens);

    const Tensor& first_moment() const { return m_; }   // [parameters.total()]
    const Tensor& second_moment() const { return v_; }  // [parameters.total()]
    const Tensor& scalars() const { return scalars_; }  // [StepScalars::Count], of the newest step

private:
    Backend& backend_;
    const Parameters& parameters_;
    OptimizerOptions options_;
    Tensor m_, v_, scalars_, square_sum_;
};

}  // namespace headscope
