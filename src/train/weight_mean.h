// The exponential mean of the weights over the steps, on the device.
#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "model/parameters.h"

namespace headscope {

class WeightMean {
public:
    // Starts as a copy of the master weights.
    WeightMean(Backend& backend, const Parameters& parameters, double decay);

    void begin();  // again from the master weights
    // After step `step`, from 1: mean = decay * mean + (1 - decay) * masters. The decay is lower in the first steps,
    // when the weights still move far.
    void add(std::int64_t step);
    // Swaps the master weights and the mean, and updates the working copy, so that the model uses the mean. A second
    // call undoes that.
    void swap();

    const Tensor& values() const { return mean_; }  // [parameters.total()]

private:
    Backend& backend_;
    const Parameters& parameters_;
    double decay_;
    Tensor mean_;
};

}  // namespace headscope
