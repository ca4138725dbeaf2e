// Rule: values, indices and out are overwritten, and share no memory with an input. Equal logits rank by the smaller
// index, NaN last. A row's sum is in F32, in an order that the number of classes and the dtype decide.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "backend/ops/search.h"
#include "backend/row_runs.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/lanes.h"
#include "backends/cpu/row_math.h"

namespace headscope::cpu {

namespace {

// log of the sum of exp(logits), as the largest logit and the rest: their rounded sum would cost logits in the
// thousands their decimals.
struct LogSum {
    float largest;
    float rest;
};

constexpr std::int64_t kBlock = 4 * kLanes;  // logits

// Whether any of a block is larger.
HEADSCOPE_INLINE bool any_above(const float* x, float limit) {
    std::int32_t found = 0;
    for (std::int64_t i = 0; i < kBlock; ++i) {
        found |= x[i] > limit ? 1 : 0;
    }
    return found != 0;
}

// The k largest so far, largest first; equal ones by index, NaN last.
class Best {
public:
    explicit Best(std::int64_t k) : k_(k) {}

    // Whether only a number larger than limit() can still enter: later indices lose against equal values.
    bool full_of_numbers() const { return count_ == k_ && !std::isnan(values_[count_ - 1]); }
    float limit() const { return values_[count_ - 1]; }
    // The largest number, or minus infinity.
    float largest() const { return count_ == 0 || std::isnan(values_[0]) ? kLowest : values_[0]; }

    void offer(float value, std::int32_t index) {
        if (count_ == k_ && !above(value, values_[count_ - 1])) {
            return;
        }
        std::int64_t place = count_ < k_ ? count_++ : k_ - 1;
        for (; place > 0 && above(value, values_[place - 1]); --place) {
            values_[place] = values_[place - 1];
            indices_[place] = indices_[place - 1];
        }
        values_[place] = value;
        indices_[place] = index;
    }

    void write(const LogSum& sum, float* values, std::int32_t* indices) const {
        for (std::int64_t i = 0; i < k_; ++i) {
            values[i] = (values_[i] - sum.largest) - sum.rest;
            indices[i] = indices_[i];
        }
    }

    static constexpr float kLowest = -std::numeric_limits<float>::infinity();

private:
    static bool above(float a, float b) { return a > b || (std::isnan(b) && !std::isnan(a)); }

    std::int64_t k_;
    std::int64_t count_ = 0;
    float values_[LogSoftmaxTopK::kMaxK];
    std::int32_t indices_[LogSoftmaxTopK::kMaxK];
};

// The sum of e^(logit - largest) so far, where the largest may grow. NaN is left out.
template <class Lanes>
class GrowingSum {
public:
    HEADSCOPE_INLINE GrowingSum() { sum_.fill(0.0F); }
    HEADSCOPE_INLINE void grow(float largest) {
        if (largest > largest_) {
            Lanes factor;
            factor.fill(largest_ - largest);
            exp_below(factor);
            sum_ *= factor;
            largest_ = largest;
        }
    }
    HEADSCOPE_INLINE void add(const float* block) {
        if (largest_ == Best::kLowest) {
            return;
        }
        for (std::int64_t i = 0; i < kBlock; i += kLanes) {
            Lanes logits;
            logits.load(block + i);
            logits.replace_nan(Best::kLowest);
            logits -= largest_;
            exp_below(logits);
            sum_ += logits;
        }
    }
    // NaN if there was no number above minus infinity.
    HEADSCOPE_INLINE LogSum log() const {
        return {largest_,
                largest_ == Best::kLowest ? std::numeric_limits<float>::quiet_NaN() : std::log(total_lane(sum_))};
    }

private:
    float largest_ = Best::kLowest;
    Lanes sum_;
};

// Reads the logits once.
template <class Lanes>
HEADSCOPE_INLINE void top_k_of(const float* logits, std::int64_t classes, std::int64_t k, float* values,
                               std::int32_t* indices) {
    Best best(k);
    GrowingSum<Lanes> sum;
    for (std::int64_t begin = 0; begin < classes; begin += kBlock) {
        const std::int64_t count = std::min(classes - begin, kBlock);
        const float* block = logits + begin;
        float rest[kBlock];
        if (count < kBlock) {
            std::copy_n(block, count, rest);
            std::fill(rest + count, rest + kBlock, Best::kLowest);
            block = rest;
        }
        if (!best.full_of_numbers() || any_above(block, best.limit())) {
            for (std::int64_t c = 0; c < count; ++c) {
                best.offer(block[c], static_cast<std::int32_t>(begin + c));
            }
            sum.grow(best.largest());
        }
        sum.add(block);
    }
    best.write(sum.log(), values, indices);
}

HEADSCOPE_VECTOR_CLONES(void top_k_row(const float* logits, std::int64_t classes, std::int64_t k, float* values,
                                       std::int32_t* indices),
                        { top_k_of<Lanes>(logits, classes, k, values, indices); })

}  // namespace

void CpuBackend::run(const LogSoftmaxTopK& op) {
    constexpr std::int64_t kWorthAThread = 8192;  // elements
    const std::int64_t classes = op.logits.dim(1);
    const std::int64_t k = op.values.dim(1);
    const float* logits = data_of<const float>(op.logits);
    float* values = data_of<float>(op.values);
    std::int32_t* indices = data_of<std::int32_t>(op.indices);
    pool_.for_ranges(op.logits.dim(0), kWorthAThread / classes, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            top_k_row(logits + row * classes, classes, k, values + row * k, indices + row * k);
        }
    });
}

void CpuBackend::run(const GatherRows& op) {
    const std::int32_t* index = data_of<std::int32_t>(op.index);
    const std::int64_t rows_in = op.x.dim(0);
    const std::int64_t rows_out = op.out.dim(0);
    const bool inside =
        std::all_of(index, index + rows_out, [&](std::int32_t row) { return row >= 0 && row < rows_in; });
    if (!inside || rows_in == 0) {
        CpuReference<float>::run(op);  // writes NaN for a row out of range
        return;
    }
    if (op.out.elements() == 0) {
        return;
    }
    constexpr std::int64_t kWorthAThread = 1 << 16;  // bytes
    const auto width = static_cast<std::int64_t>(size_of(op.x.dtype));
    const RowRuns runs = row_runs(op.x, op.out);
    const std::byte* x = first_byte(op.x);
    std::byte* out = first_byte(op.out);
    const auto copy_row = [&](std::int64_t row) {
        const std::int64_t from = index[row] * op.x.stride(0);
        const std::int64_t to = row * op.out.stride(0);
        for (std::int64_t i = 0; i < runs.outer; ++i) {
            for (std::int64_t j = 0; j < runs.inner; ++j) {
                std::memcpy(out + (to + i * runs.outer_step[1] + j * runs.inner_step[1]) * width,
                            x + (from + i * runs.outer_step[0] + j * runs.inner_step[0]) * width,
                            static_cast<std::size_t>(runs.length * width));
            }
        }
    };
    const std::int64_t row_bytes = op.out.elements() / rows_out * width;
    pool_.for_ranges(rows_out, kWorthAThread / row_bytes, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            copy_row(row);
        }
    });
}

}  // namespace headscope::cpu
