// Summary statistics and a histogram of each weight in a part of the model.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/parameters.h"

namespace headscope {

struct WeightStatistics {
    static constexpr std::size_t kBins = 41;

    std::string name;
    Shape shape;
    double mean = 0.0;
    double deviation = 0.0;  // population standard deviation
    double least = 0.0;
    double greatest = 0.0;
    std::int64_t not_finite = 0;  // excluded from the rest
    // Histogram of kBins equal bins from -limit to limit, the greatest absolute value.
    double limit = 0.0;
    std::array<std::int64_t, kBins> counts{};
};

WeightStatistics statistics_of(const std::string& name, const Shape& shape, const std::vector<float>& values);

// Statistics of every parameter whose name begins with `prefix`, in table order. Copies one parameter at a time to the
// host.
std::vector<WeightStatistics> weight_statistics(const Parameters& parameters, const std::string& prefix);

}  // namespace headscope
