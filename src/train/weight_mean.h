// The exponential mean of the weights over the steps, kept on the device beside them.
#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "model/parameters.h"

namespace headscope {

class WeightMean {
public:
    // Begins as a copy of the parameters' masters.
    WeightMean(Backend& backend, const Parameters& parameters, double decay);

    void begin();  // anew from the masters
    // After step `step`, from 1: mean = decay * mean + (1 - decay) * masters. The first steps are forgotten sooner, for
    // the weights still move far then.
    void add(std::int64_t step);
    // The masters and the mean change places, and the working copy follows: what reads the parameters sees the mean.
    // Twice is as if it had not been.
    void swap();

    const Tensor& values() const { return mean_; }  // [parameters.total()]

private:
    Backend& backend_;
    const Parameters& parameters_;
    double decay_;
    Tensor mean_;
};

}  // namespace headscope
