// Adam over the flat buffers of all parameters, and the loss scale. Everything stays on the device; the host reads
// nothing back. Paper 5.3.
#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "backend/loss_scaling.h"
#include "model/parameters.h"
#include "parallel/sharded_sum.h"

namespace headscope {

struct OptimizerOptions {
    float beta1 = 0.9F;
    float beta2 = 0.98F;
    float epsilon = 1e-9F;
    float clip_norm = 0.0F;     // of the divided gradient; 0: no clipping
    float weight_decay = 0.0F;  // of matrices and embeddings, see Adam; 0: none
    float loss_scale = 1.0F;    // initial
    LossScaling scaling = {};
};

class Optimizer {
public:
    // Of the parameters in `range`, which begins and ends between groups of Adam's.
    Optimizer(Backend& backend, const Parameters& parameters, const OptimizerOptions& options, const FlatRange& range);
    // Of all.
    Optimizer(Backend& backend, const Parameters& parameters, const OptimizerOptions& options)
        : Optimizer(backend, parameters, options, {0, parameters.total()}) {}

    // Resets to the start: no moments, no updates, the initial loss scale.
    void begin();

    // Enqueues a step: divides the gradients, which are sums, by `divisor` times the loss scale, clips them, and
    // updates the parameters and their working copy. If a gradient is not finite, only the loss scale changes and the
    // Skip scalar is set. `square_sum` [1]: of the gradients of all parameters; undefined: those of the range are all.
    void step(double learning_rate, double divisor, const Tensor& square_sum = {});

    // [1]: factor for the next gradients.
    Tensor loss_scale() const;
    void set_loss_scale(const LossScaleState<double>& state);
    void set_updates(std::int64_t updates);  // that the moments contain

    const FlatRange& range() const { return range_; }
    const Tensor& first_moment() const { return m_; }   // [range().elements]
    const Tensor& second_moment() const { return v_; }  // [range().elements]
    const Tensor& scalars() const { return scalars_; }  // [StepScalars::Count], of the newest step

private:
    Backend& backend_;
    const Parameters& parameters_;
    OptimizerOptions options_;
    FlatRange range_;
    Tensor m_, v_, scalars_, square_sum_;
    Tensor decay_;  // Adam::decay; undefined without
};

}  // namespace headscope
