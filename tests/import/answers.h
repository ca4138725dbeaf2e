// Numbers of other programs, in tests/import/models.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

namespace headscope {

constexpr double kAnswerTolerance = 1e-4;

// Of the first numbers, as many as are expected; infinity if one is not finite.
inline double largest_difference(const std::vector<double>& found, const nlohmann::json& expected) {
    const auto wanted = expected.get<std::vector<double>>();
    REQUIRE(found.size() >= wanted.size());
    double largest = 0.0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        largest = std::max(largest, std::isfinite(found[i]) ? std::abs(found[i] - wanted[i])
                                                            : std::numeric_limits<double>::infinity());
    }
    return largest;
}

}  // namespace headscope
