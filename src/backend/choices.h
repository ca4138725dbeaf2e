// What an op lets its caller choose: small enumerations that configurations, functions and models name, too, without
// the definitions of the ops.
#pragma once

#include <cstdint>

namespace headscope {

// Whether a gradient output is written for the first time. Overwrite never reads the output (which may hold garbage);
// Accumulate adds to it.
enum class Write : std::uint8_t { Overwrite, Accumulate };

// Element-wise activations. Sigmoid is 1 / (1 + exp(-x)), for gates. Gelu is the exact x * Phi(x); Swish is x *
// sigmoid(x). Approximations of Gelu: GeluTanh (GPT-2), 0.5 x (1 + tanh(u)) = x * sigmoid(2u) with u = sqrt(2 / pi) (x
// + 0.044715 x^3), and GeluSigmoid (CLIP's "quick_gelu"), x * sigmoid(1.702 x).
enum class Activation : std::uint8_t { None, Relu, Gelu, Swish, GeluTanh, GeluSigmoid, Sigmoid };
// Whether y may replace x: the backward needs at most the sign of y.
constexpr bool works_in_place(Activation activation) {
    return activation == Activation::None || activation == Activation::Relu;
}

// What F32 operands of a product are rounded to before multiplying; sums stay F32 (F64 in the oracle). TF32 has F32's
// range with 10 bits of fraction. Backend::products() reports what a device supports.
enum class Compute : std::uint8_t { F32, TF32, BF16, F16 };

// "TF32"
const char* name_of(Compute compute);

// Norms. Rms has no mean, which is undefined in the ops (Zhang and Sennrich, 2019); None is no norm.
enum class NormType : std::uint8_t { Layer, Rms, Batch, None };

// How the smoothing mass epsilon is spread: evenly over all classes including the true one (Szegedy et al.), or only
// over the other classes (tensor2tensor).
enum class Smoothing : std::uint8_t { AllClasses, OtherClasses };

// Lstm (Hochreiter and Schmidhuber, 1997, with the forget gate of Gers et al., 2000) has 4 gates in the order i, f, g,
// o; Gru (Cho et al., 2014, with the reset gate after the product, as in torch.nn.GRU) has 3: r, z, n.
enum class RecurrentCell : std::uint8_t { Lstm, Gru };
constexpr std::int64_t gates_of(RecurrentCell cell) {
    return cell == RecurrentCell::Lstm ? 4 : 3;
}

}  // namespace headscope
