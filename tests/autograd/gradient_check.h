// Compares the backward of a differentiable function with central differences, in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "autograd/functions.h"
#include "registry/registry.h"
#include "support/check.h"
#include "support/random.h"

namespace headscope {

inline std::vector<double> noise(std::int64_t count, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& value : values) {
        value = static_cast<double>(random.below(2000001)) / 1e6 - 1.0;
    }
    return values;
}

// A step and ordinals, so that dropout is active and the same in every pass.
inline Regularisation some_regularisation(Backend& backend, std::int64_t batch) {
    std::vector<std::int32_t> ordinals;
    for (std::int64_t i = 0; i < batch; ++i) {
        ordinals.push_back(static_cast<std::int32_t>(3 * i + 1));
    }
    Regularisation rates;
    rates.seed = 7;
    rates.step = make_from_host(backend, {1}, DType::I32, std::vector<std::int32_t>{5});
    rates.ordinals = make_from_host(backend, {batch}, DType::I32, ordinals);
    return rates;
}

class GradientCheck {
public:
    using Function = std::function<Var(Context&, const std::vector<Var>&)>;

    explicit GradientCheck(std::unique_ptr<Backend> backend = open_device("cpu:oracle"))
        : backend_(std::move(backend)) {}

    Backend& backend() { return *backend_; }

    // The largest difference between the tape and central differences over all elements of all inputs. The function's
    // result is weighted with random numbers and summed; inputs are random in [-1, 1]. With `twice`, each gradient has
    // two writers, so that the second must accumulate.
    double worst(const std::vector<Shape>& shapes, const Function& function, bool twice = false) {
        std::vector<std::vector<double>> inputs;
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            inputs.push_back(noise(shapes[i].elements(), 100 + i));
        }
        const std::vector<std::vector<double>> gradients = from_tape(shapes, inputs, function, twice);
        double largest = 0.0;
        constexpr double kStep = 1e-5;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            for (std::size_t e = 0; e < inputs[i].size(); ++e) {
                const double kept = inputs[i][e];
                inputs[i][e] = kept + kStep;
                const double above = value(shapes, inputs, function);
                inputs[i][e] = kept - kStep;
                const double below = value(shapes, inputs, function);
                inputs[i][e] = kept;
                const double expected = (above - below) / (2.0 * kStep) * (twice ? 2.0 : 1.0);
                largest = std::max(largest, std::abs(expected - gradients[i][e]));
            }
        }
        return largest;
    }

private:
    std::vector<Var> upload(const std::vector<Shape>& shapes, const std::vector<std::vector<double>>& inputs,
                            bool requires_grad) {
        std::vector<Var> vars;
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            vars.emplace_back(make_from_host(*backend_, shapes[i], DType::F64, inputs[i]), requires_grad);
        }
        return vars;
    }

    double value(const std::vector<Shape>& shapes, const std::vector<std::vector<double>>& inputs,
                 const Function& function) {
        Context ctx{*backend_};
        const Var y = function(ctx, upload(shapes, inputs, false));
        const std::vector<double> values = to_host<double>(*backend_, y.value());
        const std::vector<double> weights = noise(y.shape().elements(), 1);
        double sum = 0.0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            sum += weights[i] * values[i];
        }
        return sum;
    }

    std::vector<std::vector<double>> from_tape(const std::vector<Shape>& shapes,
                                               const std::vector<std::vector<double>>& inputs, const Function& function,
                                               bool twice) {
        const std::vector<Var> leaves = upload(shapes, inputs, true);
        for (int pass = 0; pass < (twice ? 2 : 1); ++pass) {
            // Functions may spend their inputs, so each pass has new values with the same gradients.
            for (std::size_t i = 0; i < leaves.size(); ++i) {
                from_host(*backend_, leaves[i].value(), inputs[i]);
            }
            Tape tape;
            Context ctx{*backend_, &tape};
            const Var y = function(ctx, leaves);
            from_host(*backend_, y.gradient_target(*backend_).tensor, noise(y.shape().elements(), 1));
            tape.backward(*backend_);
        }
        std::vector<std::vector<double>> gradients;
        for (const Var& leaf : leaves) {
            gradients.push_back(to_host<double>(*backend_, leaf.gradient()));
        }
        return gradients;
    }

    std::unique_ptr<Backend> backend_;
};

}  // namespace headscope
