#include "engine/statistics.h"

#include <algorithm>

namespace headscope {

Histogram::Histogram(double least, std::size_t buckets) : counts_(buckets + 1) {
    for (double bound = least; bounds_.size() < buckets; bound *= 2.0) {
        bounds_.push_back(bound);
    }
}

void Histogram::add(double value) {
    ++counts_[static_cast<std::size_t>(std::ranges::lower_bound(bounds_, value) - bounds_.begin())];
    ++count_;
    sum_ += value;
}

}  // namespace headscope
