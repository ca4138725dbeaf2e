#include <algorithm>
#include <cmath>
#include <numbers>

#include "backend/compositions.h"
#include "backend/ops/bias.h"
#include "backends/cpu/reference/dropout.h"
#include "backends/cpu/reference/reference.h"
#include "backends/cpu/reference/write.h"

namespace headscope {

namespace {

template <class Real>
Real sigmoid(Real x) {
    return 1 / (1 + std::exp(-x));
}

// Phi, the distribution function of N(0, 1).
template <class Real>
Real normal_below(Real x) {
    return std::erfc(-x / std::numbers::sqrt2_v<Real>) / 2;
}

// GeluSigmoid is x * sigmoid(kGeluSlope * x).
template <class Real>
constexpr Real kGeluSlope = Real{1.702};

// 2u and its derivative, for GeluTanh as x * sigmoid(2u): far out 1 + tanh(u) would lose all its digits.
template <class Real>
struct TwiceU {
    explicit TwiceU(Real x) : value(kScale * (x + kCubic * x * x * x)), slope(kScale * (1 + 3 * kCubic * x * x)) {}
    static constexpr Real kScale = 2 * std::numbers::sqrt2_v<Real> * std::numbers::inv_sqrtpi_v<Real>;
    static constexpr Real kCubic = Real{0.044715};
    Real value;
    Real slope;
};

template <class Real>
Real activate(Activation activation, Real x) {
    switch (activation) {
        case Activation::None: return x;
        case Activation::Relu: return x <= 0 ? Real{0} : x;  // NaN stays NaN
        case Activation::Gelu: return x * normal_below(x);
        case Activation::Swish: return x * sigmoid(x);
        case Activation::GeluTanh: return x * sigmoid(TwiceU<Real>(x).value);
        case Activation::GeluSigmoid: return x * sigmoid(kGeluSlope<Real> * x);
        case Activation::Sigmoid: return sigmoid(x);
    }
    HEADSCOPE_CHECK(false, "unknown activation");
}

template <class Real>
Real derivative(Activation activation, Real x) {
    switch (activation) {
        case Activation::None: return 1;
        case Activation::Relu: return x > 0 ? Real{1} : Real{0};
        case Activation::Gelu: {
            const Real density = std::exp(-x * x / 2) * std::numbers::inv_sqrtpi_v<Real> / std::numbers::sqrt2_v<Real>;
            return normal_below(x) + x * density;
        }
        case Activation::Swish: {
            const Real s = sigmoid(x);
            return s + x * s * (1 - s);
        }
        case Activation::GeluTanh: {
            const Real near = std::clamp(x, Real{-40}, Real{40});  // from there it is 0 or 1, also at infinity
            const TwiceU<Real> u(near);
            const Real s = sigmoid(u.value);
            return s + near * s * sigmoid(-u.value) * u.slope;
        }
        case Activation::GeluSigmoid: {
            const Real s = sigmoid(kGeluSlope<Real> * x);
            return s + x * s * (kGeluSlope<Real> * (1 - s));
        }
        case Activation::Sigmoid: return sigmoid(x) * sigmoid(-x);
    }
    HEADSCOPE_CHECK(false, "unknown activation");
}

}  // namespace

template <class Real>
void CpuReference<Real>::run(const BiasActivation& op) {
    const DropoutFactor<Real> dropout(op.dropout);
    const Real* bias = data_of<Real>(op.bias);
    const Real* x = data_of<Real>(op.x);
    Real* y = data_of<Real>(op.y);
    for (std::int64_t b = 0; b < op.x.dim(0); ++b) {
        for (std::int64_t i = 0; i < op.x.dim(1); ++i) {
            for (std::int64_t c = 0; c < op.x.dim(2); ++c) {
                const Real input = bias == nullptr ? *x : *x + bias[c];
                *y = dropout(activate(op.activation, input), b, 0, i, c);
                ++x;
                ++y;
            }
        }
    }
}

template <class Real>
void CpuReference<Real>::run(const BiasActivationBackward& op) {
    const DropoutFactor<Real> dropout(op.dropout);
    const Real* bias = data_of<Real>(op.bias);
    const Real* x = data_of<Real>(op.x);
    const Real* grad_y = data_of<Real>(op.grad_y);
    Real* grad_x = data_of<Real>(op.grad_x);
    for (std::int64_t b = 0; b < op.x.dim(0); ++b) {
        for (std::int64_t i = 0; i < op.x.dim(1); ++i) {
            for (std::int64_t c = 0; c < op.x.dim(2); ++c) {
                const Real input = bias == nullptr ? *x : *x + bias[c];
                const Real gradient = derivative(op.activation, input) * dropout(*grad_y, b, 0, i, c);
                store(*grad_x, gradient, op.write);
                ++x;
                ++grad_y;
                ++grad_x;
            }
        }
    }
    sum_columns(*this, op.grad_x, op.sums, op.write_sums);
}

template <class Real>
void CpuReference<Real>::run(const SumRows& op) {
    const Real* x = data_of<Real>(op.x);
    Real* out = data_of<Real>(op.out);
    const std::int64_t columns = op.x.dim(1);
    for (std::int64_t c = 0; c < columns; ++c) {
        Real sum = 0;
        for (std::int64_t r = 0; r < op.x.dim(0); ++r) {
            sum += x[r * columns + c];
        }
        store(out[c], sum, op.write);
    }
}

#define HEADSCOPE_INSTANTIATE(Real)                                       \
    template void CpuReference<Real>::run(const BiasActivation&);         \
    template void CpuReference<Real>::run(const BiasActivationBackward&); \
    template void CpuReference<Real>::run(const SumRows&);
HEADSCOPE_INSTANTIATE(float)
HEADSCOPE_INSTANTIATE(double)
#undef HEADSCOPE_INSTANTIATE

}  // namespace headscope
