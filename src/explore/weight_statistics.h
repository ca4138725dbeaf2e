// What the weights of a part of the model look like: a few numbers and a histogram of each.
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
    double deviation = 0.0;  // standard, of the whole parameter
    double least = 0.0;
    double greatest = 0.0;
    std::int64_t not_finite = 0;  // left out of all the rest
    // How many lie in each of kBins equal steps from -limit to limit, limit = the greatest absolute value.
    double limit = 0.0;
    std::array<std::int64_t, kBins> counts{};
};

WeightStatistics statistics_of(const std::string& name, const Shape& shape, const std::vector<float>& values);

// Of every parameter whose name begins with `prefix`, in the table's order. They come to the host one at a time.
std::vector<WeightStatistics> weight_statistics(const Parameters& parameters, const std::string& prefix);

}  // namespace headscope
