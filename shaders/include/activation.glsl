// The element-wise activations, in the order of the C++ enum Activation.
#ifndef HEADSCOPE_ACTIVATION_GLSL
#define HEADSCOPE_ACTIVATION_GLSL

#include "math.glsl"

const uint kRelu = 1u;
const uint kGelu = 2u;
const uint kSwish = 3u;
const uint kGeluTanh = 4u;
const uint kGeluSigmoid = 5u;
const uint kSigmoid = 6u;

// Phi(x), the normal distribution's.
float normal_cdf(float x) { return 0.5 * precise_erfc(-0.707106781 * x); }

// The divisor is in [1, 2]: Vulkan guarantees nothing for quotients with divisors above 2^126.
float sigmoid(float x) {
    float smaller = precise_exp(-abs(x));
    return (x < 0.0 ? smaller : 1.0) / (1.0 + smaller);
}
vec4 sigmoid(vec4 x) { return vec4(sigmoid(x.x), sigmoid(x.y), sigmoid(x.z), sigmoid(x.w)); }
// tanh
vec4 squash(vec4 x) { return 2.0 * sigmoid(2.0 * x) - 1.0; }

// GeluTanh is x * sigmoid(x * (kTanhLinear + kTanhCubic * x^2)). Beyond +-20 the sigmoid is exactly 0 or 1, so x is
// clamped: x^3 cannot overflow.
const float kTanhLinear = 1.59576912;  // 2 sqrt(2 / pi)
const float kTanhCubic = 0.0713548163;  // 0.044715 * kTanhLinear
float bounded(float x) { return x < -20.0 ? -20.0 : x > 20.0 ? 20.0 : x; }

float gelu_tanh_sigmoid(float near) { return sigmoid(near * fma(kTanhCubic, near * near, kTanhLinear)); }

// GeluSigmoid is x * sigmoid(kGeluSlope * x).
const float kGeluSlope = 1.702;

float activate(uint activation, float x) {
    if (activation == kGelu) {
        return x * normal_cdf(x);
    }
    if (activation == kSwish) {
        return x * sigmoid(x);
    }
    if (activation == kGeluTanh) {
        return x * gelu_tanh_sigmoid(bounded(x));
    }
    if (activation == kGeluSigmoid) {
        return x * sigmoid(kGeluSlope * x);
    }
    if (activation == kSigmoid) {
        return sigmoid(x);
    }
    return x;
}

// The derivative at x.
float activate_backward(uint activation, float x) {
    if (activation == kRelu) {
        return x > 0.0 ? 1.0 : 0.0;
    }
    if (activation == kGelu) {
        return fma(x * 0.398942280, precise_exp(-0.5 * x * x), normal_cdf(x));
    }
    if (activation == kSwish) {
        float s = sigmoid(x);
        return fma(x * s, 1.0 - s, s);
    }
    if (activation == kGeluTanh) {
        float near = bounded(x);
        float s = gelu_tanh_sigmoid(near);
        return s * fma(near * (1.0 - s), fma(3.0 * kTanhCubic, near * near, kTanhLinear), 1.0);
    }
    if (activation == kGeluSigmoid) {
        float s = sigmoid(kGeluSlope * x);
        return fma(x * s, kGeluSlope * (1.0 - s), s);
    }
    if (activation == kSigmoid) {
        return sigmoid(x) * sigmoid(-x);
    }
    return 1.0;
}

vec4 activate(uint activation, vec4 x) {
    if (activation == kRelu) {
        return mix(x, vec4(0.0), lessThanEqual(x, vec4(0.0)));  // NaN stays NaN
    }
    return vec4(activate(activation, x.x), activate(activation, x.y), activate(activation, x.z),
                activate(activation, x.w));
}

vec4 activate_backward(uint activation, vec4 x) {
    return vec4(activate_backward(activation, x.x), activate_backward(activation, x.y),
                activate_backward(activation, x.z), activate_backward(activation, x.w));
}

#endif
