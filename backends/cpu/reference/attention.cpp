#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "backend/ops/attention.h"
#include "backends/cpu/reference/reference.h"
#include "backends/cpu/reference/write.h"

namespace headscope {

namespace {

class Allows {
public:
    Allows(const AttentionMask& mask, std::int64_t queries)
        : causal_(mask.causal),
          queries_(queries),
          offset_(scalar_of(mask.query_offset, 0)),
          lengths_(data_of<std::int32_t>(mask.key_lengths)),
          ranges_(data_of<std::int32_t>(mask.key_ranges)),
          window_(mask.window) {}

    bool operator()(std::int64_t batch, std::int64_t query, std::int64_t key) const {
        const std::int32_t* range = ranges_ == nullptr ? nullptr : ranges_ + 2 * (batch * queries_ + query);
        return (lengths_ == nullptr || key < lengths_[batch]) && (!causal_ || key <= offset_ + query) &&
               (window_ == 0 || std::abs(offset_ + query - key) < window_) &&
               (range == nullptr || (range[0] <= key && key < range[1]));
    }

private:
    bool causal_;
    std::int64_t queries_;
    std::int64_t offset_;
    const std::int32_t* lengths_;
    const std::int32_t* ranges_;
    std::int64_t window_;
};

// What MaskedSoftmax adds to the score of a key.
template <class Real>
class ByDistance {
public:
    explicit ByDistance(const MaskedSoftmax& op)
        : table_(data_of<Real>(op.by_distance)),
          heads_(op.scores.dim(1)),
          most_(table_ == nullptr ? 0 : op.by_distance.dim(0) / 2),
          offset_(scalar_of(op.mask.query_offset, 0)) {}

    Real operator()(std::int64_t head, std::int64_t query, std::int64_t key) const {
        const std::int64_t distance = std::clamp(key - (offset_ + query), -most_, most_);
        return table_ == nullptr ? Real{0} : table_[(distance + most_) * heads_ + head];
    }

private:
    const Real* table_;
    std::int64_t heads_;
    std::int64_t most_;
    std::int64_t offset_;
};

}  // namespace

template <class Real>
void CpuReference<Real>::run(const MaskedSoftmax& op) {
    const View4<Real> scores(op.scores);
    const View4<Real> weights(op.weights);
    const Allows allows(op.mask, scores.size[2]);
    const ByDistance<Real> by_distance(op);
    const std::int64_t keys = scores.size[3];
    for (std::int64_t b = 0; b < scores.size[0]; ++b) {
        for (std::int64_t h = 0; h < scores.size[1]; ++h) {
            for (std::int64_t i = 0; i < scores.size[2]; ++i) {
                const auto allowed = [&](std::int64_t j) { return allows(b, i, j); };
                const auto score = [&](std::int64_t j) { return scores.at(b, h, i, j) + by_distance(h, i, j); };
                Real largest = -std::numeric_limits<Real>::infinity();
                for (std::int64_t j = 0; j < keys; ++j) {
                    if (allowed(j)) {
                        largest = std::max(largest, score(j));
                    }
                }
                Real total = 0;
                for (std::int64_t j = 0; j < keys; ++j) {
                    Real& weight = weights.at(b, h, i, j);
                    weight = allowed(j) ? std::exp(score(j) - largest) : Real{0};
                    total += weight;
                }
                for (std::int64_t j = 0; j < keys; ++j) {
                    if (allowed(j)) {
                        weights.at(b, h, i, j) /= total;
                    }
                }
            }
        }
    }
}

template <class Real>
void CpuReference<Real>::run(const MaskedSoftmaxBackward& op) {
    const std::int64_t keys = op.weights.dim(3);
    const std::int64_t rows = op.weights.dim(0) * op.weights.dim(1) * op.weights.dim(2);
    for (std::int64_t row = 0; row < rows; ++row) {
        const Real* weights = data_of<Real>(op.weights) + row * keys;
        const Real* grad_weights = data_of<Real>(op.grad_weights) + row * keys;
        Real* grad_scores = data_of<Real>(op.grad_scores) + row * keys;
        Real mean = 0;
        for (std::int64_t j = 0; j < keys; ++j) {
            mean += weights[j] * grad_weights[j];
        }
        for (std::int64_t j = 0; j < keys; ++j) {
            store(grad_scores[j], weights[j] * (grad_weights[j] - mean), op.write);
        }
    }
}

template <class Real>
void CpuReference<Real>::run(const SumDiagonals& op) {
    const View4<Real> x(op.x);
    Real* sums = data_of<Real>(op.sums);
    const std::int64_t diagonals = op.sums.dim(1);
    std::fill_n(sums, op.sums.elements(), Real{0});
    for_each_index(x, [&](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
        sums[(b * diagonals + j - i + x.size[2] - 1) * x.size[1] + h] += x.at(b, h, i, j);
    });
}

template <class Real>
void CpuReference<Real>::run(const EditAttention& op) {
    const View4<Real> weights(op.weights);
    const View4<Real> out(op.out);
    const std::int32_t* rules = data_of<std::int32_t>(op.rules);
    const Allows allows(op.mask, out.size[2]);
    for_each_index(out, [&](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
        const auto allowed = [&](std::int64_t key) { return allows(b, i, key); };
        const std::int32_t rule = rules[h * out.size[2] + i];
        Real weight = weights.at(b, h, i, j);
        if (rule == EditAttention::kOff) {
            weight = 0;
        } else if (rule == EditAttention::kUniform) {
            Real count = 0;
            for (std::int64_t key = 0; key < out.size[3]; ++key) {
                count += allowed(key) ? Real{1} : Real{0};
            }
            weight = allowed(j) ? 1 / count : Real{0};
        } else if (rule >= 0) {
            weight = j == rule && allowed(j) ? Real{1} : Real{0};
        }
        out.at(b, h, i, j) = weight;
    });
}

template <class Real>
void CpuReference<Real>::run(const CacheAppend& op) {
    const View4<Real> x(op.x);
    const View4<Real> cache(op.cache);
    const std::int64_t position = scalar_of(op.position, 0);
    for (std::int64_t b = 0; b < x.size[0]; ++b) {
        for (std::int64_t h = 0; h < x.size[1]; ++h) {
            for (std::int64_t i = 0; i < x.size[2]; ++i) {
                const std::int64_t row = position + i;
                if (row < 0 || row >= cache.size[2]) {
                    continue;
                }
                for (std::int64_t d = 0; d < x.size[3]; ++d) {
                    cache.at(b, h, row, d) = x.at(b, h, i, d);
                }
            }
        }
    }
}

template <class Real>
void CpuReference<Real>::run(const MaskKeys& op) {
    const View4<Real> x(op.x);
    const View4<Real> out(op.out);
    const Allows allows(op.mask, op.queries);
    for_each_index(out, [&](std::int64_t b, std::int64_t h, std::int64_t j, std::int64_t d) {
        bool seen = false;
        for (std::int64_t i = op.queries - 1; i >= 0 && !seen; --i) {
            seen = allows(b, i, j);
        }
        out.at(b, h, j, d) = seen ? x.at(b, h, j, d) : Real{0};
    });
}

#define HEADSCOPE_INSTANTIATE(Real)                                      \
    template void CpuReference<Real>::run(const MaskedSoftmax&);         \
    template void CpuReference<Real>::run(const MaskedSoftmaxBackward&); \
    template void CpuReference<Real>::run(const SumDiagonals&);          \
    template void CpuReference<Real>::run(const EditAttention&);         \
    template void CpuReference<Real>::run(const CacheAppend&);           \
    template void CpuReference<Real>::run(const MaskKeys&);
HEADSCOPE_INSTANTIATE(float)
HEADSCOPE_INSTANTIATE(double)
#undef HEADSCOPE_INSTANTIATE

}  // namespace headscope
