#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "backend/ops/attention.h"
#include "backend/ops/search.h"
#include "backends/vulkan/trials/device_trial.h"

namespace headscope::vulkan {

namespace {

// Values in [-1, 1]: a term that is missing in a short row's sum of exponentials changes it by 1/2500 or more.
std::vector<float> wave(const Shape& shape, float step) {
    std::vector<float> values(static_cast<std::size_t>(shape.elements()));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = std::sin(step * static_cast<float>(i + 1));
    }
    return values;
}

double log_sum(std::span<const float> scores) {
    return std::log(std::accumulate(scores.begin(), scores.end(), 0.0,
                                    [](double sum, float score) { return sum + std::exp(double{score}); }));
}

std::string compared(const char* kernel, const std::vector<float>& got, const std::vector<double>& wanted) {
    // F32 rounding errors are about 2^-20 here; a missing term changes one of 33 weights by 2^-13.
    constexpr double kAllowed = 0x1p-15;
    double worst = 0.0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const double error = std::abs(double{got[i]} - wanted[i]);
        worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
    return worst <= kAllowed
               ? ""
               : fmt::format("{} by subgroups is off by {:.1e}, tolerance {:.1e}", kernel, worst, kAllowed);
}

// The first length is the longest.
std::string softmax_complaint(Backend& backend, const std::vector<std::int32_t>& lengths) {
    const auto rows = static_cast<std::int64_t>(lengths.size());
    const Shape shape{rows, 1, 1, lengths[0]};
    const auto keys = static_cast<std::size_t>(lengths[0]);
    const std::vector<float> scores = wave(shape, 0.7F);
    const MaskedSoftmax op{.scores = make_from_host(backend, shape, DType::F32, scores),
                           .weights = backend.empty(shape, DType::F32),
                           .mask = {.key_lengths = make_from_host(backend, {rows}, DType::I32, lengths)}};
    backend.run(op);
    std::vector<double> wanted(scores.size(), 0.0);
    for (std::size_t row = 0; row < lengths.size(); ++row) {
        const auto allowed = std::span(scores).subspan(keys * row, static_cast<std::size_t>(lengths[row]));
        std::transform(allowed.begin(), allowed.end(), wanted.begin() + static_cast<std::ptrdiff_t>(keys * row),
                       [sum = log_sum(allowed)](float score) { return std::exp(double{score} - sum); });
    }
    return compared(MaskedSoftmax::kName, to_host<float>(backend, op.weights), wanted);
}

// Rows that fill a subgroup, do not fill it, and need two steps.
std::string short_rows_complaint(Backend& backend) {
    return softmax_complaint(backend, {33, 1, 17, 32});
}

// Rows for which some invocations loop once more than others, which must wait before the sum. If they do not, weights
// of 2^-10 are off by an eighth or more.
std::string long_rows_complaint(Backend& backend) {
    return softmax_complaint(backend, {2117, 2061});
}

// One row shared by several subgroups, with a maximum of integers (indices).
std::string top_k_complaint(Backend& backend) {
    constexpr std::int64_t kClasses = 301;
    constexpr std::ptrdiff_t kBest = 3;
    const std::vector<float> logits = wave({kClasses}, 1.3F);
    const LogSoftmaxTopK op{.logits = make_from_host(backend, {1, kClasses}, DType::F32, logits),
                            .values = backend.empty({1, kBest}, DType::F32),
                            .indices = backend.empty({1, kBest}, DType::I32)};
    backend.run(op);
    std::vector<std::size_t> order(logits.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::partial_sort(order.begin(), order.begin() + kBest, order.end(),
                      [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
    order.resize(kBest);
    std::vector<double> wanted;
    for (const std::size_t index : order) {
        wanted.push_back(double{logits[index]} - log_sum(logits));
    }
    wanted.insert(wanted.end(), order.begin(), order.end());
    std::vector<float> got = to_host<float>(backend, op.values);
    const std::vector<float> indices = to_host<float>(backend, op.indices);
    got.insert(got.end(), indices.begin(), indices.end());
    return compared(LogSoftmaxTopK::kName, got, wanted);
}

// One query, as in decoding: neighbours exchange their parts of a key.
std::string attention_complaint(Backend& backend) {
    if (backend.support(OpId::Attention, DType::F32).level != SupportLevel::Native) {
        return "";
    }
    constexpr std::size_t kKeys = 33;
    constexpr std::size_t kDepth = 32;
    const Shape one{1, 1, 1, kDepth};
    const Shape all{1, 1, kKeys, kDepth};
    const std::vector<float> q = wave(one, 0.9F);
    const std::vector<float> k = wave(all, 1.7F);
    const std::vector<float> v = wave(all, 2.3F);
    const Attention op{.q = make_from_host(backend, one, DType::F32, q),
                       .k = make_from_host(backend, all, DType::F32, k),
                       .v = make_from_host(backend, all, DType::F32, v),
                       .out = backend.empty(one, DType::F32)};
    backend.run(op);
    std::vector<float> scores;
    for (std::size_t key = 0; key < kKeys; ++key) {
        scores.push_back(
            std::inner_product(q.begin(), q.end(), k.begin() + static_cast<std::ptrdiff_t>(key * kDepth), 0.0F));
    }
    std::vector<double> wanted(kDepth, 0.0);
    for (std::size_t key = 0; key < kKeys; ++key) {
        const double weight = std::exp(double{scores[key]} - log_sum(scores));
        for (std::size_t column = 0; column < kDepth; ++column) {
            wanted[column] += weight * double{v[key * kDepth + column]};
        }
    }
    return compared(Attention::kName, to_host<float>(backend, op.out), wanted);
}

}  // namespace

std::string subgroup_complaint(Backend& backend, const Options& /*options*/) {
    for (const auto& complaint : {short_rows_complaint, long_rows_complaint, top_k_complaint, attention_complaint}) {
        if (std::string why = complaint(backend); !why.empty()) {
            return why;
        }
    }
    return "";
}

}  // namespace headscope::vulkan
