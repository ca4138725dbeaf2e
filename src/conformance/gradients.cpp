#include "conformance/gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace headscope::conformance {

namespace {

// The forward's inputs, and the scalar L = sum over outputs of <cotangent, output> to differentiate.
class Loss {
public:
    Loss(Backend& oracle, const Differentiation& stated) : oracle_(oracle), stated_(stated) {
        values_ = generate(stated.forward);
        for (const Operand& operand : stated.forward.operands) {
            const DType dtype = operand.dtype.value_or(oracle.full_dtype());
            tensors_.tensors[operand.name] = make_from_host(oracle, operand.shape, dtype, values_[operand.name]);
        }
    }

    // Includes `name` in L: outputs without a cotangent do not contribute.
    const Values& cotangent(const std::string& name) {
        const Operand& output = stated_.forward.operand(name);
        Random random(output.shape.elements() + 17);
        const auto count = static_cast<std::size_t>(output.shape.elements());
        cotangents_[name] =
            stated_.summed.count(name) == 1 ? Values(count, 1.0) : normal()(output.shape.elements(), random);
        return cotangents_[name];
    }

    double operator()() {
        stated_.forward.run(oracle_, tensors_);
        double total = 0.0;
        for (const auto& [name, cotangent] : cotangents_) {
            const Values output = to_host<double>(oracle_, tensors_[name]);
            for (std::size_t i = 0; i < output.size(); ++i) {
                total += cotangent[i] * output[i];
            }
        }
        return total;
    }

    // dL/dt at t = 0 with input + t * direction in place of each input, to fourth order.
    double derivative(const HostValues& direction) {
        constexpr double kStep = 1e-3;
        const auto at = [&](double t) {
            for (const auto& [name, along] : direction) {
                Values moved = values_[name];
                for (std::size_t i = 0; i < moved.size(); ++i) {
                    moved[i] += t * along[i];
                }
                from_host(oracle_, tensors_[name], moved);
            }
            return (*this)();
        };
        const double slope = (8 * (at(kStep) - at(-kStep)) - (at(2 * kStep) - at(-2 * kStep))) / (12 * kStep);
        at(0.0);
        return slope;
    }

    const Operands& tensors() const { return tensors_; }
    const Values& values(const std::string& name) const { return values_.at(name); }

private:
    Backend& oracle_;
    const Differentiation& stated_;
    HostValues values_;
    Operands tensors_;
    HostValues cotangents_;
};

constexpr const char* kPrefix = "grad_";

// Runs the backward step by step and returns the gradients of the forward's inputs.
HostValues run_backward(Backend& oracle, const Differentiation& stated, Loss& loss) {
    loss();  // outputs that the backward reads
    Operands known = loss.tensors();
    for (const Operand& output : stated.forward.operands) {
        const std::string name = kPrefix + output.name;
        const bool wanted = output.written() && known.tensors.count(name) == 0;
        const bool read = std::any_of(stated.backward.begin(), stated.backward.end(), [&](const Case& step) {
            return std::any_of(step.operands.begin(), step.operands.end(),
                               [&](const Operand& each) { return each.role == Role::In && each.name == name; });
        });
        if (wanted && (read || stated.summed.count(output.name) == 1)) {
            const Values& cotangent = loss.cotangent(output.name);
            known.tensors[name] = make_from_host(oracle, output.shape, oracle.full_dtype(), cotangent);
        }
    }
    for (const Case& step : stated.backward) {
        const HostValues own = generate(step);
        Operands operands;
        for (const Operand& operand : step.operands) {
            Tensor& tensor = operands.tensors[operand.name];
            const DType dtype = operand.dtype.value_or(oracle.full_dtype());
            if (!operand.written() && known.tensors.count(operand.name) == 1) {
                tensor = known[operand.name];
            } else {
                const Values noise(own.at(operand.name).size(), std::numeric_limits<double>::quiet_NaN());
                tensor = make_from_host(oracle, operand.shape, dtype, operand.written() ? noise : own.at(operand.name));
            }
            if (operand.written()) {
                known.tensors[operand.name] = tensor;
            }
        }
        step.run(oracle, operands);
    }
    HostValues gradients;
    for (const Operand& input : stated.forward.operands) {
        const std::string name = kPrefix + input.name;
        if (input.role == Role::In && known.tensors.count(name) == 1) {
            gradients[input.name] = to_host<double>(oracle, known[name]);
        }
    }
    return gradients;
}

// Fourth-order differences with steps of 1e-3 are accurate to about 1e-12 of the fifth derivative.
constexpr double kTolerance = 1e-8;

bool is_close(double difference, double gradient, double scale) {
    return std::abs(difference - gradient) <= kTolerance * (1.0 + scale);
}

}  // namespace

GradientReport check_gradient(Backend& oracle, const Differentiation& stated) {
    GradientReport report;
    Loss loss(oracle, stated);
    const HostValues gradients = run_backward(oracle, stated, loss);
    HostValues direction;
    double along = 0.0;
    double most = 0.0;
    for (const auto& [name, gradient] : gradients) {
        report.compared.insert(name);
        Random random(gradient.size());
        direction[name] = normal()(static_cast<std::int64_t>(gradient.size()), random);
        for (std::size_t i = 0; i < gradient.size(); ++i) {
            along += gradient[i] * direction[name][i];
            most = std::max(most, std::abs(gradient[i]));
        }
    }
    for (const auto& [name, gradient] : gradients) {
        for (std::size_t i = 0; i < gradient.size(); ++i) {
            Values one(gradient.size());
            one[i] = 1.0;
            const double difference = loss.derivative({{name, one}});
            if (!is_close(difference, gradient[i], most)) {
                report.complaints.push_back(fmt::format("{}: grad_{}[{}] is {:.12g}, central differences give {:.12g}",
                                                        stated.title(), name, i, gradient[i], difference));
                break;
            }
        }
    }
    if (const double difference = loss.derivative(direction); !is_close(difference, along, std::abs(along) + most)) {
        report.complaints.push_back(fmt::format("{}: along a direction it is {:.12g}, central differences give {:.12g}",
                                                stated.title(), along, difference));
    }
    return report;
}

}  // namespace headscope::conformance
