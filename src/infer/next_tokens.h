// A model's next-token probabilities.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headscope {

// The likeliest next tokens of some rows, best first: [rows, k] each.
struct NextTokens {
    std::int64_t rows = 0;
    int k = 0;
    std::vector<float> log_probabilities;
    std::vector<std::int32_t> tokens;
};

// The same for every token: log probabilities [rows, vocabulary].
struct AllTokens {
    std::int64_t rows = 0;
    std::int64_t vocabulary = 0;
    std::vector<float> log_probabilities;
    std::vector<double> log_sums = {};  // each row's logits are its log probabilities plus this; empty: unknown

    std::span<const float> row(std::int64_t i) const {
        return {log_probabilities.data() + i * vocabulary, static_cast<std::size_t>(vocabulary)};
    }
    std::span<float> row(std::int64_t i) {
        return {log_probabilities.data() + i * vocabulary, static_cast<std::size_t>(vocabulary)};
    }
};

// Turns logits into log probabilities in place, and returns what they are lower by. As in LogSoftmaxTopK, NaN is left
// out of the sum.
double log_softmax(std::span<float> logits);
double log_softmax(std::span<double> logits);

// The k likeliest tokens of rows [first, first + rows); ties by smaller token, NaN last.
NextTokens best_of(const AllTokens& all, std::int64_t first, std::int64_t rows, int k);

}  // namespace headscope
