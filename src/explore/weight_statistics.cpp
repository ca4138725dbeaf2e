#include "explore/weight_statistics.h"

#include <algorithm>
#include <cmath>

#include "backend/backend.h"

namespace headscope {

WeightStatistics statistics_of(const std::string& name, const Shape& shape, const std::vector<float>& values) {
    WeightStatistics statistics{.name = name, .shape = shape};
    double sum = 0.0;
    double squares = 0.0;
    std::int64_t finite = 0;
    for (const float weight : values) {
        const auto value = static_cast<double>(weight);
        if (!std::isfinite(value)) {
            ++statistics.not_finite;
            continue;
        }
        statistics.least = finite == 0 ? value : std::min(statistics.least, value);
        statistics.greatest = finite == 0 ? value : std::max(statistics.greatest, value);
        sum += value;
        squares += value * value;
        ++finite;
    }
    if (finite == 0) {
        return statistics;
    }
    const auto count = static_cast<double>(finite);
    statistics.mean = sum / count;
    statistics.deviation = std::sqrt(std::max(squares / count - statistics.mean * statistics.mean, 0.0));
    statistics.limit = std::max(std::abs(statistics.least), std::abs(statistics.greatest));
    constexpr auto kBins = static_cast<double>(WeightStatistics::kBins);
    for (const float weight : values) {
        const auto value = static_cast<double>(weight);
        if (std::isfinite(value)) {
            const double place = statistics.limit > 0.0 ? (value / statistics.limit + 1.0) / 2.0 : 0.5;
            ++statistics.counts[static_cast<std::size_t>(std::clamp(place * kBins, 0.0, kBins - 1.0))];
        }
    }
    return statistics;
}

std::vector<WeightStatistics> weight_statistics(const Parameters& parameters, const std::string& prefix) {
    std::vector<WeightStatistics> all;
    for (const ParameterSpec& spec : parameters.table()) {
        if (spec.name.starts_with(prefix)) {
            all.push_back(statistics_of(spec.name, spec.shape, parameters.values_of(spec.name)));
        }
    }
    return all;
}

}  // namespace headscope
