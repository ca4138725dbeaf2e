// A few steps of training without the trainer.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/ops/elementwise.h"
#include "backend/ops/optimizer.h"
#include "model/parameters.h"

namespace headscope {

// Adam under equation 3, on all parameters at once.
class AdamForTests {
public:
    AdamForTests(Backend& backend, const Parameters& parameters, std::int64_t warmup, std::int64_t d_model)
        : backend_(backend), parameters_(parameters), warmup_(static_cast<double>(warmup)), d_model_(d_model) {
        for (Tensor* moment : {&m_, &v_}) {
            *moment = backend.empty({parameters.total()}, backend.full_dtype());
            backend.run(Fill{.out = *moment, .value = 0.0F});
        }
        scalars_ = backend.empty({StepScalars::Count}, backend.full_dtype());
        square_sum_ = backend.empty({1}, backend.full_dtype());
    }

    static constexpr double kLossScale = 1024.0;
    // From here on the gradients are kLossScale times as large.
    void scale_loss() { loss_scale_ = kLossScale; }

    // The gradients are sums over `tokens` target tokens.
    void step(std::int64_t tokens) {
        const auto t = static_cast<double>(++step_);
        std::vector<double> scalars(StepScalars::Count, 0.0);
        scalars[StepScalars::LearningRate] =
            std::pow(static_cast<double>(d_model_), -0.5) * std::min(std::pow(t, -0.5), t * std::pow(warmup_, -1.5));
        scalars[StepScalars::Updates] = t - 1.0;
        scalars[StepScalars::GradientDivisor] = static_cast<double>(tokens);
        scalars[StepScalars::LossScale] = loss_scale_;
        from_host(backend_, scalars_, scalars);
        backend_.run(SquareSum{.x = parameters_.flat_gradients(), .out = square_sum_});
        backend_.run(StepControl{.square_sum = square_sum_, .scalars = scalars_});
        backend_.run(Adam{.parameter = parameters_.flat_values(),
                          .grad = parameters_.flat_gradients(),
                          .m = m_,
                          .v = v_,
                          .scalars = scalars_,
                          .working = parameters_.flat_working()});
    }

private:
    Backend& backend_;
    const Parameters& parameters_;
    double warmup_;
    std::int64_t d_model_;
    std::int64_t step_ = 0;
    double loss_scale_ = 1.0;
    Tensor m_, v_, scalars_, square_sum_;
};

}  // namespace headscope
