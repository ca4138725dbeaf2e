#include <algorithm>
#include <cmath>

#include "backend/ops/experts.h"
#include "backends/cpu/reference/reference.h"
#include "backends/cpu/reference/write.h"

namespace headscope {

namespace {

// Whether token t of [batch, length, ..] is no padding.
bool is_token(const Tensor& lengths, std::int64_t length, std::int64_t t) {
    return !lengths.defined() || t % length < data_of<std::int32_t>(lengths)[t / length];
}

template <class Real>
void softmax_of_logits(const Real* logits, Real* p, std::int64_t experts) {
    const Real most = *std::max_element(logits, logits + experts);
    Real sum = 0;
    for (std::int64_t e = 0; e < experts; ++e) {
        p[e] = std::exp(logits[e] - most);
        sum += p[e];
    }
    for (std::int64_t e = 0; e < experts; ++e) {
        p[e] /= sum;
    }
}

template <class Real>
void choose_largest(const Real* logits, std::int64_t experts, std::int32_t* chosen, std::int64_t choices) {
    for (std::int64_t j = 0; j < choices; ++j) {
        std::int64_t best = -1;
        for (std::int64_t e = 0; e < experts; ++e) {
            const bool taken = std::find(chosen, chosen + j, e) != chosen + j;
            if (!taken && (best < 0 || logits[e] > logits[best])) {
                best = e;
            }
        }
        chosen[j] = static_cast<std::int32_t>(best);
    }
}

// The sum of the p that a token has chosen.
template <class Real>
Real chosen_sum(const Real* p, const std::int32_t* chosen, std::int64_t choices) {
    Real sum = 0;
    for (std::int64_t j = 0; j < choices; ++j) {
        sum += p[chosen[j]];
    }
    return sum;
}

}  // namespace

template <class Real>
void CpuReference<Real>::run(const RouteTokens& op) {
    const std::int64_t length = op.logits.dim(1);
    const std::int64_t experts = op.logits.dim(2);
    const std::int64_t tokens = op.logits.dim(0) * length;
    const std::int64_t choices = op.chosen.dim(2);
    const std::int64_t capacity = op.sources.dim(1);
    const Real* p = data_of<Real>(op.probabilities);
    const std::int32_t* chosen = data_of<std::int32_t>(op.chosen);
    for (std::int64_t t = 0; t < tokens; ++t) {
        const Real* logits = data_of<Real>(op.logits) + t * experts;
        softmax_of_logits(logits, data_of<Real>(op.probabilities) + t * experts, experts);
        choose_largest(logits, experts, data_of<std::int32_t>(op.chosen) + t * choices, choices);
    }
    std::fill_n(data_of<std::int32_t>(op.slots), tokens * choices, -1);
    std::fill_n(data_of<std::int32_t>(op.sources), experts * capacity, -1);
    std::fill_n(data_of<Real>(op.weights), experts * capacity, Real{0});
    std::fill_n(data_of<std::int32_t>(op.keys), op.keys.defined() ? experts * capacity : 0, 0);
    std::int64_t count = 0;
    for (std::int64_t t = 0; t < tokens; ++t) {
        count += is_token(op.lengths, length, t) ? 1 : 0;
    }
    for (std::int64_t e = 0; e < experts; ++e) {
        std::int64_t taken = 0;
        std::int64_t firsts = 0;
        Real sum = 0;
        for (std::int64_t j = 0; j < choices; ++j) {
            for (std::int64_t t = 0; t < tokens; ++t) {
                if (!is_token(op.lengths, length, t)) {
                    continue;
                }
                sum += j == 0 ? p[t * experts + e] : 0;
                const bool wants = chosen[t * choices + j] == e;
                firsts += wants && j == 0 ? 1 : 0;
                if (!wants || taken == capacity) {
                    continue;
                }
                const std::int64_t slot = e * capacity + taken++;
                data_of<std::int32_t>(op.slots)[t * choices + j] = static_cast<std::int32_t>(slot);
                data_of<std::int32_t>(op.sources)[slot] = static_cast<std::int32_t>(t);
                const Real whole = choices == 1 ? Real{1} : chosen_sum(p + t * experts, chosen + t * choices, choices);
                data_of<Real>(op.weights)[slot] = p[t * experts + e] / whole;
                if (op.keys.defined()) {
                    const auto ordinal = static_cast<std::uint32_t>(data_of<std::int32_t>(op.ordinals)[t / length]);
                    const auto position = static_cast<std::uint32_t>(t % length);
                    const auto key = (65536U * ordinal + position) * static_cast<std::uint32_t>(choices) +
                                     static_cast<std::uint32_t>(j);
                    data_of<std::int32_t>(op.keys)[slot] = static_cast<std::int32_t>(key);
                }
            }
        }
        data_of<Real>(op.shares)[e] = count == 0 ? 0 : static_cast<Real>(firsts) / static_cast<Real>(count);
        data_of<Real>(op.sums)[e] = sum;
    }
}

template <class Real>
void CpuReference<Real>::run(const RouteTokensBackward& op) {
    const std::int64_t length = op.probabilities.dim(1);
    const std::int64_t experts = op.probabilities.dim(2);
    const std::int64_t choices = op.chosen.dim(2);
    const Real* grad_weights = data_of<Real>(op.grad_weights);
    const Real* grad_sums = data_of<Real>(op.grad_sums);
    for (std::int64_t t = 0; t < op.probabilities.dim(0) * length; ++t) {
        const bool counts = is_token(op.lengths, length, t);
        const Real* p = data_of<Real>(op.probabilities) + t * experts;
        const std::int32_t* chosen = data_of<std::int32_t>(op.chosen) + t * choices;
        const std::int32_t* slots = data_of<std::int32_t>(op.slots) + t * choices;
        const auto grad_of = [&](std::int64_t j) { return slots[j] < 0 ? 0 : grad_weights[slots[j]]; };
        // dL/dp: of a weight p / whole, and of the sums. Then through the softmax.
        const Real whole = choices == 1 ? 1 : chosen_sum(p, chosen, choices);
        Real mean = 0;
        for (std::int64_t j = 0; j < choices && choices > 1; ++j) {
            mean += p[chosen[j]] / whole * grad_of(j);
        }
        const auto grad_p = [&](std::int64_t e) {
            Real grad = grad_sums == nullptr ? 0 : grad_sums[e];
            for (std::int64_t j = 0; j < choices; ++j) {
                grad += chosen[j] == e ? (grad_of(j) - mean) / whole : 0;
            }
            return grad;
        };
        Real along = choices == 1 ? p[chosen[0]] * grad_of(0) : 0;  // of weights that share a sum it is 0
        for (std::int64_t e = 0; e < experts && grad_sums != nullptr; ++e) {
            along += p[e] * grad_sums[e];
        }
        for (std::int64_t e = 0; e < experts; ++e) {
            store(data_of<Real>(op.grad_logits)[t * experts + e], counts ? p[e] * (grad_p(e) - along) : 0, op.write);
        }
    }
}

template <class Real>
void CpuReference<Real>::run(const TakeTokens& op) {
    const std::int64_t columns = op.x.dim(1);
    const std::int32_t* sources = data_of<std::int32_t>(op.sources);
    for (std::int64_t s = 0; s < op.out.dim(0); ++s) {
        const bool full = sources[s] >= 0 && sources[s] < op.x.dim(0);
        const Real* x = data_of<Real>(op.x) + (full ? sources[s] * columns : 0);
        const Real weight = op.weights.defined() ? data_of<Real>(op.weights)[s] : 1;
        Real dot = 0;
        for (std::int64_t c = 0; c < columns; ++c) {
            data_of<Real>(op.out)[s * columns + c] = full ? weight * x[c] : 0;
            dot += full && op.others.defined() ? data_of<Real>(op.others)[s * columns + c] * x[c] : 0;
        }
        if (op.dots.defined()) {
            data_of<Real>(op.dots)[s] = dot;
        }
    }
}

template <class Real>
void CpuReference<Real>::run(const MixExperts& op) {
    const std::int64_t columns = op.x.dim(1);
    const std::int64_t choices = op.slots.dim(1);
    for (std::int64_t t = 0; t < op.out.dim(0); ++t) {
        for (std::int64_t c = 0; c < columns; ++c) {
            Real sum = 0;
            for (std::int64_t j = 0; j < choices; ++j) {
                const std::int64_t slot = data_of<std::int32_t>(op.slots)[t * choices + j];
                if (slot >= 0 && slot < op.x.dim(0)) {
                    const Real weight = op.weights.defined() ? data_of<Real>(op.weights)[slot] : 1;
                    sum += weight * data_of<Real>(op.x)[slot * columns + c];
                }
            }
            store(data_of<Real>(op.out)[t * columns + c], sum, op.write);
        }
    }
}

#define HEADSCOPE_INSTANTIATE(Real)                                    \
    template void CpuReference<Real>::run(const RouteTokens&);         \
    template void CpuReference<Real>::run(const RouteTokensBackward&); \
    template void CpuReference<Real>::run(const TakeTokens&);          \
    template void CpuReference<Real>::run(const MixExperts&);
HEADSCOPE_INSTANTIATE(float)
HEADSCOPE_INSTANTIATE(double)
#undef HEADSCOPE_INSTANTIATE

}  // namespace headscope
