// Rule: sum, y, mean and rstd are overwritten; each gradient has a Write of its own. sum may be x or residual. A row's
// sums are in F32 over unrounded values; grad_gain and grad_bias sum fixed parts of the rows, then the parts.
#include "backend/ops/layer_norm.h"
#include "backend/compositions.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/dropout_bits.h"
#include "backends/cpu/row_math.h"

namespace headscope::cpu {

namespace {

constexpr std::int64_t kWorthAThread = 8192;  // elements

HEADSCOPE_CLONES void add_row(const float* residual, float* sum, std::int64_t columns) {
    for (std::int64_t c = 0; c < columns; ++c) {
        sum[c] += residual[c];
    }
}

HEADSCOPE_CLONES void normalise_row(const AddLayerNorm& op, std::int64_t row, std::int64_t columns, const float* sum,
                                    float* y, float* mean_out, float* rstd_out, const float* gain, const float* bias) {
    const auto count = static_cast<float>(columns);
    const float mean = mean_out == nullptr ? 0.0F : sum_over(columns, [&](std::int64_t c) { return sum[c]; }) / count;
    const float variance = sum_over(columns, [&](std::int64_t c) { return (sum[c] - mean) * (sum[c] - mean); }) / count;
    const float rstd = 1.0F / std::sqrt(variance + op.epsilon);
    for (std::int64_t c = 0; c < columns; ++c) {
        y[c] = gain[c] * ((sum[c] - mean) * rstd) + bias[c];
    }
    if (mean_out != nullptr) {
        mean_out[row] = mean;
    }
    rstd_out[row] = rstd;
}

// One row of the backward; gain's and bias's gradients accumulate over rows.
struct BackRow {
    const float* sum;
    const float* gain;
    const float* grad_y;
    const float* mean;  // null for RMS norm
    float rstd;
    float* grad_gain;
    float* grad_bias;
    float* grad_sum;  // out
};

// grad_sum = rstd * (g - mean(g) - n * mean(g * n)) with g = gain * grad_y and n the normalised row. RMS norm has no
// mean(g).
HEADSCOPE_CLONES void back_row(const BackRow& r, std::int64_t columns) {
    const float* sum = r.sum;
    const float* gain = r.gain;
    const float* grad_y = r.grad_y;
    const float mean = r.mean == nullptr ? 0.0F : *r.mean;
    const float rstd = r.rstd;
    const auto count = static_cast<float>(columns);
    const float plain =
        r.mean == nullptr ? 0.0F : sum_over(columns, [&](std::int64_t c) { return gain[c] * grad_y[c]; }) / count;
    const float weighted =
        sum_over(columns, [&](std::int64_t c) { return gain[c] * grad_y[c] * ((sum[c] - mean) * rstd); }) / count;
    float* grad_sum = r.grad_sum;
    float* grad_gain = r.grad_gain;
    float* grad_bias = r.grad_bias;
    for (std::int64_t c = 0; c < columns; ++c) {
        const float n = (sum[c] - mean) * rstd;
        grad_sum[c] = rstd * (gain[c] * grad_y[c] - plain - n * weighted);
        grad_gain[c] += grad_y[c] * n;
        grad_bias[c] += grad_y[c];
    }
}

float* at(float* data, std::int64_t row, std::int64_t columns) {
    return data == nullptr ? nullptr : data + row * columns;
}

// AddLayerNormBackward with its operands as pointers.
class Backward {
public:
    Backward(const AddLayerNormBackward& op, ThreadPool& pool)
        : op_(op),
          pool_(pool),
          columns_(op.sum.dim(2)),
          rows_(op.sum.dim(0) * op.sum.dim(1)),
          sums_(static_cast<std::size_t>(chunks() * 2 * columns_)),
          bits_(op.dropout, op.sum) {}

    void run() {
        pool_.for_ranges(chunks(), kWorthAThread / std::max<std::int64_t>(kChunk * columns_, 1),
                         [&](std::int64_t begin, std::int64_t end) {
                             for (std::int64_t chunk = begin; chunk < end; ++chunk) {
                                 run_chunk(chunk);
                             }
                         });
        gather(data_of<float>(op_.grad_gain), 0, op_.write_gain);
        if (op_.grad_bias.defined()) {
            gather(data_of<float>(op_.grad_bias), columns_, op_.write_bias);
        }
    }

private:
    // Rows whose terms of gain's and bias's gradients are summed before the chunks are added in order, so that the
    // result does not depend on the threads.
    static constexpr std::int64_t kChunk = 32;

    std::int64_t chunks() const { return (rows_ + kChunk - 1) / kChunk; }

    void run_chunk(std::int64_t chunk) {
        std::vector<float> grad_sum(static_cast<std::size_t>(columns_));
        const std::int64_t begin = chunk * kChunk;
        bits_.for_rows(begin, std::min(begin + kChunk, rows_), [&](std::int64_t row, const RowDropout& dropout) {
            run_row(row, chunk, grad_sum.data());
            if (float* grad_x = at(grad_x_, row, columns_)) {
                apply_dropout(dropout, grad_sum.data(), grad_x, columns_, op_.write_x);
            }
            if (float* grad_residual = at(grad_residual_, row, columns_)) {
                apply_dropout({}, grad_sum.data(), grad_residual, columns_, op_.write_residual);
            }
        });
    }

    void run_row(std::int64_t row, std::int64_t chunk, float* grad_sum) {
        const float* direct = at(direct_, row, columns_);
        if (grad_y_ == nullptr) {
            std::copy_n(direct, columns_, grad_sum);
            return;
        }
        float* sums = sums_.data() + chunk * 2 * columns_;
        back_row({at(sum_, row, columns_), gain_, at(grad_y_, row, columns_), at(mean_, row, 1), rstd_[row], sums,
                  sums + columns_, grad_sum},
                 columns_);
        if (direct != nullptr) {
            add_row(direct, grad_sum, columns_);
        }
    }

    void gather(float* to, std::int64_t from, Write write) const {
        if (write == Write::Overwrite) {
            std::fill_n(to, columns_, 0.0F);
        }
        for (std::int64_t chunk = 0; chunk < chunks(); ++chunk) {
            add_row(sums_.data() + chunk * 2 * columns_ + from, to, columns_);
        }
    }

    const AddLayerNormBackward& op_;
    ThreadPool& pool_;
    std::int64_t columns_;
    std::int64_t rows_;
    std::vector<float> sums_;  // [chunks, 2, columns]
    DropoutBits bits_;
    float* sum_ = data_of<float>(op_.sum);
    float* gain_ = data_of<float>(op_.gain);
    float* mean_ = data_of<float>(op_.mean);
    float* rstd_ = data_of<float>(op_.rstd);
    float* grad_y_ = data_of<float>(op_.grad_y);
    float* direct_ = data_of<float>(op_.grad_sum_out);
    float* grad_x_ = data_of<float>(op_.grad_x);
    float* grad_residual_ = data_of<float>(op_.grad_residual);
};

}  // namespace

void CpuBackend::run(const AddLayerNorm& op) {
    const std::int64_t columns = op.x.dim(2);
    const std::int64_t rows = op.x.dim(0) * op.x.dim(1);
    const DropoutBits bits(op.dropout, op.x);
    float* x = data_of<float>(op.x);
    float* residual = data_of<float>(op.residual);
    float* sum = data_of<float>(op.sum);
    float* y = data_of<float>(op.y);
    float* mean = data_of<float>(op.mean);
    float* rstd = data_of<float>(op.rstd);
    const float* gain = data_of<float>(op.gain);
    const std::vector<float> zeros(op.bias.defined() ? 0 : static_cast<std::size_t>(columns));
    const float* bias = op.bias.defined() ? data_of<float>(op.bias) : zeros.data();
    pool_.for_ranges(rows, kWorthAThread / std::max<std::int64_t>(columns, 1),
                     [&](std::int64_t begin, std::int64_t end) {
                         std::vector<float> dropped(static_cast<std::size_t>(columns));
                         bits.for_rows(begin, end, [&](std::int64_t row, const RowDropout& dropout) {
                             float* to = at(sum, row, columns);
                             apply_dropout(dropout, at(x, row, columns), dropped.data(), columns, Write::Overwrite);
                             if (residual != nullptr) {
                                 add_row(at(residual, row, columns), dropped.data(), columns);
                             }
                             std::copy_n(dropped.data(), columns, to);
                             normalise_row(op, row, columns, to, at(y, row, columns), mean, rstd, gain, bias);
                         });
                     });
}

void CpuBackend::run(const AddLayerNormBackward& op) {
    Backward(op, pool_).run();
    sum_columns(*this, op.grad_x, op.grad_x_sums, op.write_x_sums);
}

}  // namespace headscope::cpu
