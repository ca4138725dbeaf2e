#pragma once

#include <algorithm>
#include <vector>

#include "support/check.h"

namespace headscope {

// The middle value, or the mean of the two middle values.
inline double median(std::vector<double> values) {
    HEADSCOPE_CHECK(!values.empty(), "median of an empty list");
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2.0;
}

}  // namespace headscope
