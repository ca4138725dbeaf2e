#include "infer/next_tokens.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "support/check.h"

namespace headscope {

namespace {

template <class T>
double log_softmax_of(std::span<T> logits) {
    T most = -std::numeric_limits<T>::infinity();
    for (const T logit : logits) {
        most = logit > most ? logit : most;  // false for NaN
    }
    double sum = 0.0;
    for (const T logit : logits) {
        sum += std::isnan(logit) ? 0.0 : std::exp(static_cast<double>(logit - most));
    }
    const double log_sum = static_cast<double>(most) + std::log(sum);
    for (T& logit : logits) {
        logit = static_cast<T>(static_cast<double>(logit) - log_sum);
    }
    return log_sum;
}

}  // namespace

double log_softmax(std::span<float> logits) {
    return log_softmax_of(logits);
}

double log_softmax(std::span<double> logits) {
    return log_softmax_of(logits);
}

NextTokens best_of(const AllTokens& all, std::int64_t first, std::int64_t rows, int k) {
    HEADSCOPE_CHECK(k >= 1 && k <= all.vocabulary && first >= 0 && first + rows <= all.rows, "rows or k out of range");
    NextTokens best{.rows = rows, .k = k, .log_probabilities = {}, .tokens = {}};
    std::vector<std::int32_t> order(static_cast<std::size_t>(all.vocabulary));
    for (std::int64_t row = first; row < first + rows; ++row) {
        const std::span<const float> values = all.row(row);
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](std::int32_t a, std::int32_t b) {
            const float of_a = values[static_cast<std::size_t>(a)];
            const float of_b = values[static_cast<std::size_t>(b)];
            if (std::isnan(of_a) || std::isnan(of_b)) {
                return std::isnan(of_a) == std::isnan(of_b) ? a < b : std::isnan(of_b);
            }
            return of_a != of_b ? of_a > of_b : a < b;
        });
        best.tokens.insert(best.tokens.end(), order.begin(), order.begin() + k);
        std::transform(order.begin(), order.begin() + k, std::back_inserter(best.log_probabilities),
                       [&](std::int32_t token) { return values[static_cast<std::size_t>(token)]; });
    }
    return best;
}

}  // namespace headscope
