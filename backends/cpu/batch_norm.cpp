// Rule: y, mean and rstd are overwritten, the running values moved in place; each gradient has a Write of its own. Sums
// are in F32, in an order that the sizes alone decide.
#include <algorithm>

#include "backend/ops/batch_norm.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/row_math.h"

namespace headscope::cpu {

namespace {

constexpr std::int64_t kWorthAThread = 8192;  // elements

// The rows of [batch, length, columns], and which of them are measured.
struct Rows {
    template <class Op>
    explicit Rows(const Op& op) : columns(op.x.dim(2)) {
        const std::int64_t length = op.x.dim(1);
        const std::int32_t* lengths = data_of<const std::int32_t>(op.lengths);
        for (std::int64_t b = 0; b < op.x.dim(0); ++b) {
            for (std::int64_t i = 0; i < length; ++i) {
                is_measured.push_back(op.measures && (lengths == nullptr || i < lengths[b]) ? 1 : 0);
            }
        }
        count = static_cast<float>(std::count(is_measured.begin(), is_measured.end(), 1));
    }

    std::int64_t size() const { return static_cast<std::int64_t>(is_measured.size()); }

    std::int64_t columns;
    std::vector<std::uint8_t> is_measured;
    float count = 0;
};

// Calls body(first, width) for blocks of at most kLanes columns.
template <class Body>
void for_columns(ThreadPool& pool, const Rows& rows, Body body) {
    pool.for_ranges((rows.columns + kLanes - 1) / kLanes,
                    kWorthAThread / std::max<std::int64_t>(rows.size() * kLanes, 1),
                    [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t block = begin; block < end; ++block) {
                            const std::int64_t first = block * kLanes;
                            body(first, std::min(kLanes, rows.columns - first));
                        }
                    });
}

// An operand from column `first` on.
float* at(const Tensor& tensor, std::int64_t first) {
    return data_of<float>(tensor) + first;
}

// The columns of a vector from `first` on. Compilers keep them in registers, as no output can overlap them.
struct Lanes {
    Lanes(const Tensor& tensor, std::int64_t first, std::int64_t width) { std::copy_n(at(tensor, first), width, x); }
    float operator[](std::int64_t c) const { return x[c]; }
    float x[kLanes] = {};
};

// The mean over measured rows of term(row, c), for each column c.
template <class Term>
HEADSCOPE_INLINE void mean_over(const Rows& rows, std::int64_t width, float* mean, Term term) {
    float sums[kLanes] = {};
    for (std::int64_t row = 0; row < rows.size(); ++row) {
        if (rows.is_measured[static_cast<std::size_t>(row)] != 0) {
            for (std::int64_t c = 0; c < width; ++c) {
                sums[c] += term(row, c);
            }
        }
    }
    for (std::int64_t c = 0; c < width; ++c) {
        mean[c] = sums[c] / std::max(rows.count, 1.0F);
    }
}

// Measures columns from `first` on, and moves their running values.
HEADSCOPE_INLINE void measure(const BatchNorm& op, const Rows& rows, std::int64_t first, std::int64_t width,
                              float* mean, float* variance) {
    const float* x = at(op.x, first);
    mean_over(rows, width, mean, [&](std::int64_t row, std::int64_t c) { return x[row * rows.columns + c]; });
    mean_over(rows, width, variance, [&](std::int64_t row, std::int64_t c) {
        const float apart = x[row * rows.columns + c] - mean[c];
        return apart * apart;
    });
    if (rows.count > 1) {
        float* running_mean = at(op.running_mean, first);
        float* running_variance = at(op.running_variance, first);
        for (std::int64_t c = 0; c < width; ++c) {
            const float unbiased = variance[c] * rows.count / (rows.count - 1);
            running_mean[c] += op.momentum * (mean[c] - running_mean[c]);
            running_variance[c] += op.momentum * (unbiased - running_variance[c]);
        }
    }
}

HEADSCOPE_INLINE void normalise(const BatchNorm& op, const Rows& rows, std::int64_t first, std::int64_t width) {
    float mean[kLanes];
    float variance[kLanes];
    if (op.measures) {
        measure(op, rows, first, width, mean, variance);
    } else {
        std::copy_n(at(op.running_mean, first), width, mean);
        std::copy_n(at(op.running_variance, first), width, variance);
    }
    float rstd[kLanes];
    for (std::int64_t c = 0; c < width; ++c) {
        rstd[c] = 1.0F / std::sqrt(variance[c] + op.epsilon);
    }
    const Lanes gain(op.gain, first, width);
    const Lanes bias(op.bias, first, width);
    const float* x = at(op.x, first);
    float* y = at(op.y, first);
    for (std::int64_t row = 0; row < rows.size(); ++row, x += rows.columns, y += rows.columns) {
        for (std::int64_t c = 0; c < width; ++c) {
            y[c] = gain[c] * ((x[c] - mean[c]) * rstd[c]) + bias[c];
        }
    }
    std::copy_n(mean, width, at(op.mean, first));
    std::copy_n(rstd, width, at(op.rstd, first));
}

HEADSCOPE_INLINE void write_columns(const float* from, float* to, std::int64_t width, Write write) {
    for (std::int64_t c = 0; c < width; ++c) {
        to[c] = (write == Write::Accumulate ? to[c] : 0.0F) + from[c];
    }
}

HEADSCOPE_INLINE void differentiate(const BatchNormBackward& op, const Rows& rows, std::int64_t first,
                                    std::int64_t width) {
    const Lanes gain(op.gain, first, width);
    const Lanes mean(op.mean, first, width);
    const Lanes rstd(op.rstd, first, width);
    float grad_gain[kLanes] = {};
    float grad_bias[kLanes] = {};
    const float* x = at(op.x, first);
    const float* grad_y = at(op.grad_y, first);
    for (std::int64_t row = 0; row < rows.size(); ++row) {
        const std::int64_t from = row * rows.columns;
        for (std::int64_t c = 0; c < width; ++c) {
            grad_gain[c] += grad_y[from + c] * ((x[from + c] - mean[c]) * rstd[c]);
            grad_bias[c] += grad_y[from + c];
        }
    }
    const float count = std::max(rows.count, 1.0F);
    float* grad_x = op.grad_x.defined() ? at(op.grad_x, first) : nullptr;
    for (std::int64_t row = 0; row < rows.size() && grad_x != nullptr; ++row) {
        const std::int64_t from = row * rows.columns;
        const bool measured = rows.is_measured[static_cast<std::size_t>(row)] != 0;
        float grad[kLanes];
        for (std::int64_t c = 0; c < width; ++c) {
            const float normalised = (x[from + c] - mean[c]) * rstd[c];
            const float shared = (grad_bias[c] + normalised * grad_gain[c]) / count;
            grad[c] = gain[c] * rstd[c] * (grad_y[from + c] - (measured ? shared : 0.0F));
        }
        write_columns(grad, grad_x + from, width, op.write_x);
    }
    write_columns(grad_gain, at(op.grad_gain, first), width, op.write_gain);
    write_columns(grad_bias, at(op.grad_bias, first), width, op.write_bias);
}

// With a constant width the loops over columns become a few instructions.
HEADSCOPE_CLONES void normalise_columns(const BatchNorm& op, const Rows& rows, std::int64_t first, std::int64_t width) {
    if (width == kLanes) {
        normalise(op, rows, first, kLanes);
    } else {
        normalise(op, rows, first, width);
    }
}

HEADSCOPE_CLONES void differentiate_columns(const BatchNormBackward& op, const Rows& rows, std::int64_t first,
                                            std::int64_t width) {
    if (width == kLanes) {
        differentiate(op, rows, first, kLanes);
    } else {
        differentiate(op, rows, first, width);
    }
}

}  // namespace

void CpuBackend::run(const BatchNorm& op) {
    const Rows rows(op);
    for_columns(pool_, rows,
                [&](std::int64_t first, std::int64_t width) { normalise_columns(op, rows, first, width); });
}

void CpuBackend::run(const BatchNormBackward& op) {
    const Rows rows(op);
    for_columns(pool_, rows,
                [&](std::int64_t first, std::int64_t width) { differentiate_columns(op, rows, first, width); });
}

}  // namespace headscope::cpu
