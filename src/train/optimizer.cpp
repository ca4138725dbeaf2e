#include "train/optimizer.h"

#include <cmath>

#include <algorithm>
#include <vector>

#include "backend/ops/elementwise.h"
#include "backend/ops/optimizer.h"
#include "support/check.h"

namespace headscope {

Optimizer::Optimizer(Backend& backend, const Parameters& parameters, const OptimizerOptions& options,
                     const FlatRange& range)
    : backend_(backend), parameters_(parameters), options_(options), range_(range) {
    const Shape flat{range.elements};
    m_ = backend.empty(flat, backend.full_dtype());
    v_ = backend.empty(flat, backend.full_dtype());
    scalars_ = backend.empty({StepScalars::Count}, backend.full_dtype());
    square_sum_ = backend.empty({1}, backend.full_dtype());
    if (options.weight_decay > 0.0F) {
        std::vector<float> decay(static_cast<std::size_t>(Adam::groups(parameters.total())));
        for (const ParameterSpec& spec : parameters.table()) {
            // A weight shares groups of elements only with the weights that it is packed with.
            if (spec.multiplied) {
                const std::int64_t first = parameters.offset_of(spec.name) / Adam::kGroup;
                const std::int64_t end = parameters.offset_of(spec.name) + spec.shape.elements();
                std::fill(decay.begin() + first, decay.begin() + Adam::groups(end), options.weight_decay);
            }
        }
        decay_ = make_from_host(backend, {std::ssize(decay)}, backend.full_dtype(), decay)
                     .narrow(0, range.begin / Adam::kGroup, Adam::groups(range.elements));
    }
    begin();
    // Nothing writes the pads between parameters, and they must not count in the norm.
    backend.run(Fill{.out = parameters.flat_gradients()});
}

void Optimizer::begin() {
    backend_.run(Fill{.out = m_});
    backend_.run(Fill{.out = v_});
    backend_.run(Fill{.out = scalars_});
    set_loss_scale({static_cast<double>(options_.loss_scale), 0.0});
}

void Optimizer::step(double learning_rate, double divisor, const Tensor& square_sum) {
    HEADSCOPE_CHECK(std::isfinite(divisor) && divisor > 0.0, "gradients are divided by a positive number");
    static_assert(StepScalars::LearningRate == 0 && StepScalars::GradientDivisor == 1);
    from_host<double>(backend_, scalars_.narrow(0, 0, 2), {learning_rate, divisor});

    const auto mine = [this](const Tensor& flat) {
        return flat.defined() ? flat.narrow(0, range_.begin, range_.elements) : flat;
    };
    const Tensor gradients = mine(parameters_.flat_gradients());
    if (!square_sum.defined()) {
        backend_.run(SquareSum{.x = gradients, .out = square_sum_});
    }
    backend_.run(StepControl{.square_sum = square_sum.defined() ? square_sum : square_sum_,
                             .scalars = scalars_,
                             .max_norm = options_.clip_norm,
                             .scaling = options_.scaling,
                             .beta1 = options_.beta1,
                             .beta2 = options_.beta2});
    backend_.run(Adam{.parameter = mine(parameters_.flat_values()),
                      .grad = gradients,
                      .m = m_,
                      .v = v_,
                      .scalars = scalars_,
                      .working = mine(parameters_.flat_working()),
                      .decay = decay_,
                      .beta1 = options_.beta1,
                      .beta2 = options_.beta2,
                      .epsilon = options_.epsilon});
}

Tensor Optimizer::loss_scale() const {
    return scalars_.narrow(0, StepScalars::LossScale, 1);
}

void Optimizer::set_loss_scale(const LossScaleState<double>& state) {
    static_assert(StepScalars::GoodSteps == StepScalars::LossScale + 1);
    from_host<double>(backend_, scalars_.narrow(0, StepScalars::LossScale, 2), {state.scale, state.good_steps});
}

void Optimizer::set_updates(std::int64_t updates) {
    from_host<double>(backend_, scalars_.narrow(0, StepScalars::Updates, 1), {static_cast<double>(updates)});
}

}  // namespace headscope
