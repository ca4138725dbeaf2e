// What several ops share.
//
// Dtypes. T, which operands have unless their op declares something else, is F32, F16 or BF16, in all of an op's
// operands alike: activations, their gradients, the weights that are multiplied. Every other real operand is full(),
// F32: masters, biases, gains, statistics, weight gradients, losses. In the oracle both are F64. Whatever T is, an op
// computes in F32 and rounds what it writes once.
//
// Weights. An OperandType::Weight may also be stored in less beside operands that are F32 (F64 in the oracle):
//   F16, which is multiplied as what it stands for, or
//   I8 with scales [rows]: row j stands for scales[j] * row j. A product rounds its other operand to I8, too, each row
//   by itself (quantisation.h), so that the products are integers and their sums exact on every device.
// Backend::weights() says what a device has.
#pragma once

#include <cstdint>

#include "backend/declarations.h"
#include "tensor/tensor.h"

namespace headscope {

// Element-wise activations. Sigmoid is 1 / (1 + exp(-x)), for gates. Gelu is the exact x * Phi(x); Swish is x *
// sigmoid(x). Approximations of Gelu: GeluTanh (GPT-2), 0.5 x (1 + tanh(u)) = x * sigmoid(2u) with u = sqrt(2 / pi) (x
// + 0.044715 x^3), and GeluSigmoid (CLIP's "quick_gelu"), x * sigmoid(1.702 x).
enum class Activation : std::uint8_t { None, Relu, Gelu, Swish, GeluTanh, GeluSigmoid, Sigmoid };
// Whether y may replace x: the backward needs at most the sign of y.
constexpr bool works_in_place(Activation activation) {
    return activation == Activation::None || activation == Activation::Relu;
}

// Which elements dropout lets through, decided by Philox4x32-10 so that every backend draws the same
// bits whatever the padding, the micro-batch or the rank. For an element in column c of
//   x [batch, length, columns]:       position = index in length, head = 0
//   x [batch, heads, queries, keys]:  position = query, head = head, c = key
// counter = { c / 8, (head << 16) | position, ordinals[batch], site }, key = { seed, *step },
// and the element's 16 bits are the half (c % 2) of output word (c % 8) / 2, low half first. It is kept
// iff bits >= threshold, with threshold = round(rate * 65536); what is kept is multiplied by
// 65536 / (65536 - threshold), so that the expectation is exact. Paper 5.4.
struct DropoutRule {
    float rate = 0.0F;  // in [0, 1); 0 is the identity and draws nothing
    std::uint32_t seed = 0;
    std::uint32_t site = 0;  // which dropout of the model; distinct for each
    Tensor step = {};        // the training step
    Tensor ordinals = {};    // each sentence's index in the whole batch of the step

    // Its operands beside x, whose first dimension is the batch.
    void declare(Declarations& d, const Tensor& x) const {
        d.dropout(*this, x);
        if (rate != 0.0F) {
            d.in("the dropout's step", step, {1}).index();
            d.in("the dropout's ordinals", ordinals, {x.rank() > 0 ? x.dim(0) : 0}).index();
        }
    }
};

// round(rate * 65536), with which a DropoutRule compares 16 random bits.
std::uint32_t dropout_threshold(float rate);

}  // namespace headscope
