#include "observe/vector_distance.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "support/check.h"

namespace headscope {

double cosine_of(std::span<const float> a, std::span<const float> b) {
    HEADSCOPE_CHECK(a.size() == b.size(), "vectors of the same size have an angle");
    double product = 0.0, of_a = 0.0, of_b = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        product += static_cast<double>(a[i]) * static_cast<double>(b[i]);
        of_a += static_cast<double>(a[i]) * static_cast<double>(a[i]);
        of_b += static_cast<double>(b[i]) * static_cast<double>(b[i]);
    }
    const double lengths = std::sqrt(of_a) * std::sqrt(of_b);
    return lengths > 0.0 ? std::clamp(product / lengths, -1.0, 1.0) : 0.0;
}

NearestVectors::NearestVectors(std::vector<float> queries, std::int64_t columns, std::size_t most)
    : queries_(std::move(queries)),
      columns_(static_cast<std::size_t>(columns)),
      most_(most),
      nearest_(queries_.size() / columns_) {}

bool NearestVectors::add(std::span<const float> vector) {
    bool kept = false;
    for (std::size_t i = 0; i < nearest_.size(); ++i) {
        const NearVector found{added_, cosine_of(std::span(queries_).subspan(i * columns_, columns_), vector)};
        std::vector<NearVector>& nearest = nearest_[i];
        const auto place = std::ranges::upper_bound(nearest, found.cosine, std::ranges::greater(), &NearVector::cosine);
        if (place == nearest.end() && nearest.size() == most_) {
            continue;
        }
        nearest.insert(place, found);
        nearest.resize(std::min(nearest.size(), most_));
        kept = true;
    }
    ++added_;
    return kept;
}

std::vector<std::vector<NearVector>> NearestVectors::take() {
    return std::move(nearest_);
}

}  // namespace headscope
