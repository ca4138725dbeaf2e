// f and f' of backend/choices.h's Activation, in F32. Paper 3.3 and its successors.
#pragma once

#include <cuda_runtime.h>

#include "backend/choices.h"

namespace headscope::cuda {

__host__ __device__ inline float sigmoid(float x) {
    return 1.0F / (1.0F + expf(-x));
}

// tanh, from the logistic function as everywhere: NaN stays NaN, and nothing overflows.
__host__ __device__ inline float squash(float x) {
    return 2.0F * sigmoid(2.0F * x) - 1.0F;
}

// Phi, the distribution function of N(0, 1).
__host__ __device__ inline float normal_below(float x) {
    constexpr float kInverseSqrt2 = 0.70710678118654752F;
    return 0.5F * erfcf(-x * kInverseSqrt2);
}

// GeluTanh is x * sigmoid(x * (kTanhLinear + kTanhCubic * x^2)). Beyond +-20 the sigmoid is exactly 0 or 1, so x is
// clamped: x^3 cannot overflow.
constexpr float kTanhLinear = 1.5957691216057308F;  // 2 sqrt(2 / pi)
constexpr float kTanhCubic = 0.0713548162726F;      // 0.044715 * kTanhLinear
__host__ __device__ inline float bounded(float x) {
    return x < -20.0F ? -20.0F : x > 20.0F ? 20.0F : x;
}

// GeluSigmoid is x * sigmoid(kGeluSlope * x).
constexpr float kGeluSlope = 1.702F;

__host__ __device__ inline float activate(Activation activation, float x) {
    switch (activation) {
        case Activation::None: return x;
        case Activation::Relu: return x <= 0.0F ? 0.0F : x;  // NaN stays NaN
        case Activation::Gelu: return x * normal_below(x);
        case Activation::Swish: return x * sigmoid(x);
        case Activation::GeluTanh: {
            const float near = bounded(x);
            return x * sigmoid(near * (kTanhLinear + kTanhCubic * near * near));
        }
        case Activation::GeluSigmoid: return x * sigmoid(kGeluSlope * x);
        case Activation::Sigmoid: return sigmoid(x);
    }
    return x;
}

__host__ __device__ inline float derivative(Activation activation, float x) {
    switch (activation) {
        case Activation::None: return 1.0F;
        case Activation::Relu: return x > 0.0F ? 1.0F : 0.0F;
        case Activation::Gelu: {
            constexpr float kInverseSqrt2Pi = 0.39894228040143268F;
            return normal_below(x) + x * kInverseSqrt2Pi * expf(-0.5F * x * x);
        }
        case Activation::Swish: {
            const float s = sigmoid(x);
            return s + x * s * (1.0F - s);
        }
        case Activation::GeluTanh: {
            const float near = bounded(x);
            const float square = near * near;
            const float s = sigmoid(near * (kTanhLinear + kTanhCubic * square));
            return s * (1.0F + near * (1.0F - s) * (kTanhLinear + 3.0F * kTanhCubic * square));
        }
        case Activation::GeluSigmoid: {
            const float s = sigmoid(kGeluSlope * x);
            return s + x * s * (kGeluSlope * (1.0F - s));
        }
        case Activation::Sigmoid: return sigmoid(x) * sigmoid(-x);
    }
    return 1.0F;
}

}  // namespace headscope::cuda
