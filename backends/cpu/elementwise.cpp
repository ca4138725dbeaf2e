// Rule: out is overwritten; copy, multiply and dropout add to it with Write::Accumulate, without reading it otherwise.
// add_scaled, multiply and dropout work in place. Each element is computed in F32 and rounded once, so the order of
// work cannot show.
#include <cstring>

#include "backend/ops/elementwise.h"
#include "backends/cpu/clones.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/dropout_bits.h"

namespace headscope::cpu {

namespace {

constexpr std::int64_t kBlock = 4096;          // elements of a contiguous tensor that form a row
constexpr std::int64_t kWorthAThread = 16384;  // elements

// Tensors of one shape as rows. Contiguous tensors are cut into blocks, since their own rows may be short.
template <std::size_t count>
class Rows {
public:
    explicit Rows(const std::array<Tensor, count>& tensors) {
        for (std::size_t i = 0; i < count; ++i) {
            if (tensors[i].defined()) {
                views_[i] = View4<float>(tensors[i]);
                flat_ = flat_ && tensors[i].contiguous();
            }
        }
        size_ = tensors[0].elements();
        rows_ = flat_ ? (size_ + kBlock - 1) / kBlock : size_ / std::max<std::int64_t>(views_[0].size[3], 1);
    }

    // Calls body(pointers, columns) for every row on the threads; absent tensors are nullptr.
    template <class Body>
    void run(ThreadPool& pool, Body&& body) const {
        const std::int64_t columns = flat_ ? kBlock : views_[0].size[3];
        pool.for_ranges(rows_, kWorthAThread / std::max<std::int64_t>(columns, 1),
                        [&](std::int64_t begin, std::int64_t end) {
                            for (std::int64_t row = begin; row < end; ++row) {
                                body(pointers(row), flat_ ? std::min(kBlock, size_ - row * kBlock) : columns);
                            }
                        });
    }

private:
    std::array<float*, count> pointers(std::int64_t row) const {
        std::array<float*, count> found{};
        const std::int64_t k = row % views_[0].size[2];
        const std::int64_t j = row / views_[0].size[2] % views_[0].size[1];
        const std::int64_t i = row / (views_[0].size[2] * views_[0].size[1]);
        for (std::size_t t = 0; t < count; ++t) {
            if (views_[t].data != nullptr) {
                found[t] = flat_ ? views_[t].data + row * kBlock : views_[t].row(i, j, k);
            }
        }
        return found;
    }

    std::array<View4<float>, count> views_{};
    bool flat_ = true;
    std::int64_t size_;
    std::int64_t rows_;
};

HEADSCOPE_CLONES void add_scaled(float* out, const float* a, const float* b, float alpha, float beta,
                                 std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] = alpha * a[i] + beta * b[i];
    }
}

HEADSCOPE_CLONES void scale(float* out, const float* a, float alpha, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] = alpha * a[i];
    }
}

HEADSCOPE_CLONES void multiply(float* out, const float* a, const float* b, bool accumulate, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] = accumulate ? out[i] + a[i] * b[i] : a[i] * b[i];
    }
}

HEADSCOPE_CLONES void add(float* out, const float* x, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] += x[i];
    }
}

}  // namespace

void CpuBackend::run(const Fill& op) {
    if (op.out.dtype != DType::F32) {
        CpuReference<float>::run(op);
        return;
    }
    Rows<1>({op.out}).run(pool_,
                          [&](const auto& row, std::int64_t columns) { std::fill_n(row[0], columns, op.value); });
}

void CpuBackend::run(const Copy& op) {
    if (op.x.dtype != DType::F32 || op.out.dtype != DType::F32) {
        CpuReference<float>::run(op);  // conversions happen only when models are read or written
        return;
    }
    Rows<2>({op.out, op.x}).run(pool_, [&](const auto& row, std::int64_t columns) {
        if (op.write == Write::Accumulate) {
            add(row[0], row[1], columns);
        } else if (row[0] != row[1]) {
            std::copy_n(row[1], columns, row[0]);
        }
    });
}

void CpuBackend::run(const AddScaled& op) {
    Rows<3>({op.out, op.a, op.b}).run(pool_, [&](const auto& row, std::int64_t columns) {
        if (row[2] == nullptr) {
            scale(row[0], row[1], op.alpha, columns);
        } else {
            add_scaled(row[0], row[1], row[2], op.alpha, op.beta, columns);
        }
    });
}

void CpuBackend::run(const Multiply& op) {
    Rows<3>({op.out, op.a, op.b}).run(pool_, [&](const auto& row, std::int64_t columns) {
        multiply(row[0], row[1], row[2], op.write == Write::Accumulate, columns);
    });
}

void CpuBackend::run(const Dropout& op) {
    const View4<const float> x(op.x);
    const View4<float> y(op.y);
    const DropoutBits bits(op.rule, op.x);
    const std::int64_t columns = x.size[3];
    const std::int64_t rows = x.size[0] * x.size[1] * x.size[2];
    const auto row_of = [&](const auto& view, std::int64_t row) {
        return view.row(row / (x.size[1] * x.size[2]), row / x.size[2] % x.size[1], row % x.size[2]);
    };
    pool_.for_ranges(rows, kWorthAThread / std::max<std::int64_t>(columns, 1),
                     [&](std::int64_t begin, std::int64_t end) {
                         bits.for_rows(begin, end, [&](std::int64_t row, const RowDropout& dropout) {
                             apply_dropout(dropout, row_of(x, row), row_of(y, row), columns, op.write);
                         });
                     });
}

}  // namespace headscope::cpu
