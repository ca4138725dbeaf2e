// Adam over the flat buffers of all parameters, without a word read back by the host. Paper 5.3. With it goes the loss
// scale, which the device keeps and moves by itself.
#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "model/parameters.h"

namespace headscope {

struct OptimizerOptions {
    float beta1 = 0.9F;
    float beta2 = 0.98F;
    float epsilon = 1e-9F;
    float clip_norm = 0.0F;   // of the divided gradient; 0: no clipping
    float loss_scale = 1.0F;  // at the start
    LossScaling scaling = {};
};

class Optimizer {
public:
    Optimizer(Backend& backend, const Parameters& parameters, const OptimizerOptions& options);

    // As at the start: no moments, the first loss scale.
    void begin();

    // Enqueues step `step` (from 1): the gradients, sums over `target_tokens` times the loss scale, are divided once,
    // clipped, and applied to the parameters and their working copy. A gradient that is not finite changes nothing but
    // the loss scale; the Skip scalar says so.
    void step(std::int64_t step, double learning_rate, std::int64_t target_tokens);

    // [1]: what the next gradients are to be multiplied with.
    Tensor loss_scale() const;
    void set_loss_scale(const LossScaleState<double>& state);

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
