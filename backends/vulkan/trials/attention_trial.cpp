#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "backend/ops/attention.h"
#include "backends/vulkan/trials/device_trial.h"
#include "backends/vulkan/trials/noise.h"
#include "tensor/dtype.h"

namespace headscope::vulkan {

namespace {

// Heads of the models that are trained most: sentences of two lengths, several blocks of queries, keys that fill no
// matrix.
struct Heads {
    std::int64_t batch, heads, queries, keys, depth;
    Shape of_queries() const { return {batch, heads, queries, depth}; }
    Shape of_keys() const { return {batch, heads, keys, depth}; }
};
constexpr std::array<Heads, 2> kHeads{{{2, 2, 37, 45, 64}, {2, 1, 9, 20, 32}}};

using Values = std::vector<double>;

std::vector<float> rounded_noise(const Shape& shape, std::uint64_t seed) {
    std::vector<float> values = noise(shape, seed);
    for (float& value : values) {
        value = from_f16(to_f16(value));
    }
    return values;
}

// A head's operands and, computed on the host, its output and gradients.
struct Expected {
    Values out, grad_q, grad_k, grad_v;
};

struct Operands {
    Heads size;
    float scale = 0.0F;
    std::vector<std::int32_t> lengths;
    std::vector<float> q, k, v, grad_out;
};

void add_query(const Operands& from, std::size_t sentence, std::size_t q_at, std::size_t k_at, Expected& to) {
    const auto depth = static_cast<std::size_t>(from.size.depth);
    const auto keys = static_cast<std::size_t>(from.lengths[sentence]);
    const auto dot = [&](const std::vector<float>& a, std::size_t a_at, const std::vector<float>& b, std::size_t b_at) {
        double sum = 0.0;
        for (std::size_t d = 0; d < depth; ++d) {
            sum += double{a[a_at + d]} * double{b[b_at + d]};
        }
        return sum;
    };
    Values weights(keys);
    Values grads(keys);
    double total = 0.0;
    double mean = 0.0;
    for (std::size_t key = 0; key < keys; ++key) {
        weights[key] = std::exp(double{from.scale} * dot(from.q, q_at, from.k, k_at + key * depth));
        grads[key] = dot(from.grad_out, q_at, from.v, k_at + key * depth);
        total += weights[key];
        mean += weights[key] * grads[key];
    }
    for (std::size_t key = 0; key < keys; ++key) {
        const double weight = weights[key] / total;
        const double grad_score = double{from.scale} * weight * (grads[key] - mean / total);
        for (std::size_t d = 0; d < depth; ++d) {
            const std::size_t at = k_at + key * depth + d;
            to.out[q_at + d] += weight * double{from.v[at]};
            to.grad_v[at] += weight * double{from.grad_out[q_at + d]};
            to.grad_q[q_at + d] += grad_score * double{from.k[at]};
            to.grad_k[at] += grad_score * double{from.q[q_at + d]};
        }
    }
}

Expected expected(const Operands& from) {
    const Values of_queries(from.q.size());
    const Values of_keys(from.k.size());
    Expected to{of_queries, of_queries, of_keys, of_keys};
    const Heads& size = from.size;
    for (std::int64_t row = 0; row < size.batch * size.heads * size.queries; ++row) {
        const std::int64_t head = row / size.queries;
        add_query(from, static_cast<std::size_t>(head / size.heads), static_cast<std::size_t>(row * size.depth),
                  static_cast<std::size_t>(head * size.keys * size.depth), to);
    }
    return to;
}

// Relative to the largest.
double worst_error(Backend& backend, const Tensor& tensor, const Values& wanted) {
    const std::vector<float> got = to_host<float>(backend, tensor);
    double largest = 0.0;
    double worst = 0.0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const double error = std::abs(double{got[i]} - wanted[i]);
        worst = std::isnan(error) ? INFINITY : std::max(worst, error);
        largest = std::max(largest, std::abs(wanted[i]));
    }
    return worst / largest;
}

std::string complaint_of(Backend& backend, const Heads& size, DType stored, float factor) {
    // Weights, gradients and results are rounded to F16, errors of about 2^-10; one wrong key of 45 is off by more.
    constexpr double kAllowed = 0x1p-7;
    const Operands from{.size = size,
                        .scale = 1.0F / std::sqrt(static_cast<float>(size.depth)),
                        .lengths = {static_cast<std::int32_t>(size.keys), 7},
                        .q = rounded_noise(size.of_queries(), 1),
                        .k = rounded_noise(size.of_keys(), 2),
                        .v = rounded_noise(size.of_keys(), 3),
                        .grad_out = rounded_noise(size.of_queries(), 4)};
    const Attention op{.q = make_from_host(backend, size.of_queries(), stored, from.q),
                       .k = make_from_host(backend, size.of_keys(), stored, from.k),
                       .v = make_from_host(backend, size.of_keys(), stored, from.v),
                       .out = backend.empty(size.of_queries(), stored),
                       .log_sums = backend.empty({size.batch, size.heads, size.queries}, DType::F32),
                       .mask = {.key_lengths = make_from_host(backend, {size.batch}, DType::I32, from.lengths)},
                       .scale = from.scale * factor,
                       .compute = Compute::F16};
    backend.run(op);
    const AttentionBackward back{.q = op.q,
                                 .k = op.k,
                                 .v = op.v,
                                 .out = op.out,
                                 .grad_out = make_from_host(backend, size.of_queries(), stored, from.grad_out),
                                 .log_sums = op.log_sums,
                                 .grad_q = backend.empty(size.of_queries(), stored),
                                 .grad_k = backend.empty(size.of_keys(), stored),
                                 .grad_v = backend.empty(size.of_keys(), stored),
                                 .mask = op.mask,
                                 .scale = op.scale,
                                 .compute = op.compute};
    backend.run(back);
    const Expected wanted = expected(from);
    const std::array compared{std::pair{&op.out, &wanted.out}, std::pair{&back.grad_q, &wanted.grad_q},
                              std::pair{&back.grad_k, &wanted.grad_k}, std::pair{&back.grad_v, &wanted.grad_v}};
    constexpr std::array kNames{"attention", "the gradient of its queries", "of its keys", "of its values"};
    for (std::size_t i = 0; i < compared.size(); ++i) {
        const double error = worst_error(backend, *compared.at(i).first, *compared.at(i).second);
        if (error > kAllowed) {
            return fmt::format("{} of heads of {} columns in {} is off by {:.1e}, tolerance {:.1e}", kNames.at(i),
                               size.depth, name_of(stored), error, kAllowed);
        }
    }
    return "";
}

}  // namespace

std::string matrix_attention_complaint(Backend& backend, const Options& options) {
    const float factor = options.trial_error.value_or(TrialError{}).factor(kTrialSideOfAttention);
    const bool stores_halves = backend.support(OpId::Attention, DType::F16).level == SupportLevel::Native;
    for (const DType stored : stores_halves ? std::vector{DType::F32, DType::F16} : std::vector{DType::F32}) {
        for (const Heads& size : kHeads) {
            if (std::string why = complaint_of(backend, size, stored, factor); !why.empty()) {
                return why;
            }
        }
    }
    return "";
}

}  // namespace headscope::vulkan
