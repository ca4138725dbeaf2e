// The temperature of a softmax that makes a model's probabilities fit (Guo et al., 2017).
#pragma once

#include <functional>

namespace headscope {

inline constexpr double kLeastTemperature = 0.1, kMostTemperature = 10.0;

// The temperature between these two at which `nll`, the mean loss at a temperature, is lowest: within 0.1 %. The loss
// has one minimum, as it is convex in 1 / temperature. Brent's method (1973) over the logarithm, from 1.
double fit_temperature(const std::function<double(double)>& nll);

}  // namespace headscope
