// Rule: y is overwritten; gradients are added to with Write::Accumulate. None and ReLU work in place, and grad_x may be
// grad_y. Column sums run down fixed parts of the rows, then over the parts: no atomics, equal bits each time.
#include <numbers>

#include "backend/compositions.h"
#include "backend/ops/bias.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/dropout_bits.h"
#include "backends/cpu/row_math.h"

namespace headscope::cpu {

namespace {

constexpr std::int64_t kWorthAThread = 8192;  // elements

// A pre-activation row: x + bias; bias may be nullptr.
struct Input {
    const float* x;
    const float* bias;
};

// y[c] = f(x[c] + bias[c]); the bias is tested once, so that the loops have no branch.
template <class Function>
HEADSCOPE_INLINE void map_input(const Input& in, float* y, std::int64_t columns, Function f) {
    if (in.bias != nullptr) {
        for (std::int64_t c = 0; c < columns; ++c) {
            y[c] = f(in.x[c] + in.bias[c]);
        }
    } else {
        for (std::int64_t c = 0; c < columns; ++c) {
            y[c] = f(in.x[c]);
        }
    }
}

// GeluTanh is x * sigmoid(x * (kTanhLinear + kTanhCubic * x^2)). Beyond +-20 the sigmoid is exactly 0 or 1, so x is
// clamped: x^3 cannot overflow.
constexpr float kTanhLinear = 1.5957691216057308F;  // 2 sqrt(2 / pi)
constexpr float kTanhCubic = 0.0713548162726F;      // 0.044715 * kTanhLinear
HEADSCOPE_INLINE float bounded(float x) {
    const float above = x < -20.0F ? -20.0F : x;
    return above > 20.0F ? 20.0F : above;
}

HEADSCOPE_INLINE float gelu_tanh_sigmoid(float near) {
    return sigmoid_fast(near * (kTanhLinear + kTanhCubic * near * near));
}

// GeluSigmoid is x * sigmoid(kGeluSlope * x).
constexpr float kGeluSlope = 1.702F;

HEADSCOPE_CLONES void identity_row(const Input& in, float* y, std::int64_t columns) {
    map_input(in, y, columns, [](float x) { return x; });
}
HEADSCOPE_CLONES void relu_row(const Input& in, float* y, std::int64_t columns) {
    map_input(in, y, columns, [](float x) { return x <= 0.0F ? 0.0F : x; });
}
HEADSCOPE_CLONES void gelu_row(const Input& in, float* y, std::int64_t columns) {
    map_input(in, y, columns, [](float x) { return x * normal_below_fast(x); });
}
HEADSCOPE_CLONES void swish_row(const Input& in, float* y, std::int64_t columns) {
    map_input(in, y, columns, [](float x) { return x * sigmoid_fast(x); });
}
HEADSCOPE_CLONES void gelu_tanh_row(const Input& in, float* y, std::int64_t columns) {
    map_input(in, y, columns, [](float x) { return x * gelu_tanh_sigmoid(bounded(x)); });
}

HEADSCOPE_CLONES void sigmoid_row(const Input& in, float* y, std::int64_t columns) {
    map_input(in, y, columns, [](float x) { return sigmoid_fast(x); });
}
HEADSCOPE_CLONES void gelu_sigmoid_row(const Input& in, float* y, std::int64_t columns) {
    map_input(in, y, columns, [](float x) { return x * sigmoid_fast(kGeluSlope * x); });
}

using ForwardRow = void (*)(const Input&, float*, std::int64_t);

ForwardRow forward_row(Activation activation) {
    switch (activation) {
        case Activation::None: return identity_row;
        case Activation::Relu: return relu_row;
        case Activation::Gelu: return gelu_row;
        case Activation::Swish: return swish_row;
        case Activation::GeluTanh: return gelu_tanh_row;
        case Activation::GeluSigmoid: return gelu_sigmoid_row;
        case Activation::Sigmoid: return sigmoid_row;
    }
    HEADSCOPE_CHECK(false, "unknown activation");
}

HEADSCOPE_INLINE float gelu_slope(float x) {
    constexpr float kDensityAtZero = std::numbers::inv_sqrtpi_v<float> / std::numbers::sqrt2_v<float>;
    return normal_below_fast(x) + x * kDensityAtZero * exp_fast(-0.5F * x * x);
}

HEADSCOPE_INLINE float swish_slope(float x) {
    const float s = sigmoid_fast(x);
    return s + x * s * (1.0F - s);
}

HEADSCOPE_INLINE float gelu_tanh_slope(float x) {
    const float near = bounded(x);
    const float s = gelu_tanh_sigmoid(near);
    return s * (1.0F + near * (1.0F - s) * (kTanhLinear + 3.0F * kTanhCubic * near * near));
}

HEADSCOPE_INLINE float gelu_sigmoid_slope(float x) {
    const float s = sigmoid_fast(kGeluSlope * x);
    return s + x * s * (kGeluSlope * (1.0F - s));
}

// grad[c] = f'(x[c] + bias[c]) * grad_y[c]; grad may be grad_y.
template <class Slope>
HEADSCOPE_INLINE void slope_row(const Input& in, const float* grad_y, float* grad, std::int64_t columns, Slope slope) {
    if (in.bias != nullptr) {
        for (std::int64_t c = 0; c < columns; ++c) {
            grad[c] = slope(in.x[c] + in.bias[c]) * grad_y[c];
        }
    } else {
        for (std::int64_t c = 0; c < columns; ++c) {
            grad[c] = slope(in.x[c]) * grad_y[c];
        }
    }
}

HEADSCOPE_CLONES void identity_back(const Input& /*in*/, const float* grad_y, float* grad, std::int64_t columns) {
    for (std::int64_t c = 0; c < columns; ++c) {
        grad[c] = grad_y[c];
    }
}
HEADSCOPE_CLONES void relu_back(const Input& in, const float* grad_y, float* grad, std::int64_t columns) {
    slope_row(in, grad_y, grad, columns, [](float x) { return x > 0.0F ? 1.0F : 0.0F; });
}
HEADSCOPE_CLONES void gelu_back(const Input& in, const float* grad_y, float* grad, std::int64_t columns) {
    slope_row(in, grad_y, grad, columns, [](float x) { return gelu_slope(x); });
}
HEADSCOPE_CLONES void swish_back(const Input& in, const float* grad_y, float* grad, std::int64_t columns) {
    slope_row(in, grad_y, grad, columns, [](float x) { return swish_slope(x); });
}
HEADSCOPE_CLONES void gelu_tanh_back(const Input& in, const float* grad_y, float* grad, std::int64_t columns) {
    slope_row(in, grad_y, grad, columns, [](float x) { return gelu_tanh_slope(x); });
}

HEADSCOPE_CLONES void sigmoid_back(const Input& in, const float* grad_y, float* grad, std::int64_t columns) {
    slope_row(in, grad_y, grad, columns, [](float x) { return sigmoid_fast(x) * sigmoid_fast(-x); });
}
HEADSCOPE_CLONES void gelu_sigmoid_back(const Input& in, const float* grad_y, float* grad, std::int64_t columns) {
    slope_row(in, grad_y, grad, columns, [](float x) { return gelu_sigmoid_slope(x); });
}

using BackwardRow = void (*)(const Input&, const float*, float*, std::int64_t);

BackwardRow backward_row(Activation activation) {
    switch (activation) {
        case Activation::None: return identity_back;
        case Activation::Relu: return relu_back;
        case Activation::Gelu: return gelu_back;
        case Activation::Swish: return swish_back;
        case Activation::GeluTanh: return gelu_tanh_back;
        case Activation::GeluSigmoid: return gelu_sigmoid_back;
        case Activation::Sigmoid: return sigmoid_back;
    }
    HEADSCOPE_CHECK(false, "unknown activation");
}

HEADSCOPE_CLONES void add_rows(const float* x, std::int64_t rows, std::int64_t columns, float* sums) {
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t c = 0; c < columns; ++c) {
            sums[c] += x[row * columns + c];
        }
    }
}

}  // namespace

void CpuBackend::run(const BiasActivation& op) {
    const std::int64_t columns = op.x.dim(2);
    const std::int64_t rows = op.x.dim(0) * op.x.dim(1);
    const DropoutBits bits(op.dropout, op.x);
    const ForwardRow activate = forward_row(op.activation);
    const float* x = data_of<const float>(op.x);
    const float* bias = data_of<const float>(op.bias);
    float* y = data_of<float>(op.y);
    pool_.for_ranges(rows, kWorthAThread / std::max<std::int64_t>(columns, 1),
                     [&](std::int64_t begin, std::int64_t end) {
                         bits.for_rows(begin, end, [&](std::int64_t row, const RowDropout& dropout) {
                             float* to = y + row * columns;
                             activate({x + row * columns, bias}, to, columns);
                             apply_dropout(dropout, to, to, columns, Write::Overwrite);
                         });
                     });
}

void CpuBackend::run(const BiasActivationBackward& op) {
    const std::int64_t columns = op.x.dim(2);
    const std::int64_t rows = op.x.dim(0) * op.x.dim(1);
    const DropoutBits bits(op.dropout, op.x);
    const BackwardRow go_back = backward_row(op.activation);
    const float* x = data_of<const float>(op.x);
    const float* bias = data_of<const float>(op.bias);
    const float* grad_y = data_of<const float>(op.grad_y);
    float* grad_x = data_of<float>(op.grad_x);
    const bool adds = op.write == Write::Accumulate;
    pool_.for_ranges(rows, kWorthAThread / std::max<std::int64_t>(columns, 1),
                     [&](std::int64_t begin, std::int64_t end) {
                         std::vector<float> scratch(adds ? static_cast<std::size_t>(columns) : 0);
                         bits.for_rows(begin, end, [&](std::int64_t row, const RowDropout& dropout) {
                             const std::int64_t at = row * columns;
                             float* through = adds ? scratch.data() : grad_x + at;
                             go_back({x + at, bias}, grad_y + at, through, columns);
                             apply_dropout(dropout, through, grad_x + at, columns, op.write);
                         });
                     });
    sum_columns(*this, op.grad_x, op.sums, op.write_sums);
}

// In chunks of rows whose sums are added in order, so that the result does not depend on the threads.
void CpuBackend::run(const SumRows& op) {
    constexpr std::int64_t kChunk = 64;
    const std::int64_t rows = op.x.dim(0);
    const std::int64_t columns = op.x.dim(1);
    const std::int64_t chunks = (rows + kChunk - 1) / kChunk;
    const float* x = data_of<const float>(op.x);
    float* out = data_of<float>(op.out);
    std::vector<float> sums(static_cast<std::size_t>(chunks * columns));
    pool_.for_ranges(chunks, 4 * kWorthAThread / std::max<std::int64_t>(kChunk * columns, 1),
                     [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t chunk = begin; chunk < end; ++chunk) {
                             const std::int64_t first = chunk * kChunk;
                             add_rows(x + first * columns, std::min(kChunk, rows - first), columns,
                                      sums.data() + chunk * columns);
                         }
                     });
    if (op.write == Write::Overwrite) {
        std::fill_n(out, columns, 0.0F);
    }
    add_rows(sums.data(), chunks, columns, out);
}

}  // namespace headscope::cpu
