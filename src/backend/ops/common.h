// What several ops share.
//
// Dtypes. An operand marked T is F32, F16 or BF16, all T operands of one op alike: activations, their gradients, the
// weights that are multiplied. Every other real operand is F32: masters, biases, gains, statistics, weight gradients,
// losses. In the oracle both are F64. Whatever T is, an op computes in F32 and rounds what it writes once.
//
// Weights. An operand marked "T or narrow" may also be stored in less beside operands that are F32 (F64 in the oracle):
//   F16, which is multiplied as what it stands for, or
//   I8 with scales [rows]: row j stands for scales[j] * row j. A product rounds its other operand to I8, too, each row
//   by itself (quantisation.h), so that the products are integers and their sums exact on every device.
// Backend::weights() says what a device has.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace headscope {

// Whether a gradient output is written for the first time. Overwrite never reads the output (which may hold garbage);
// Accumulate adds to it.
enum class Write : std::uint8_t { Overwrite, Accumulate };

// Element-wise activations. Gelu is the exact x * Phi(x); Swish is x * sigmoid(x).
enum class Activation : std::uint8_t { None, Relu, Gelu, Swish };

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
    Tensor step = {};        // I32 [1] on the device: the training step
    Tensor ordinals = {};    // I32 [batch]: each sentence's index in the whole batch of the step
};

// round(rate * 65536), with which a DropoutRule compares 16 random bits.
std::uint32_t dropout_threshold(float rate);

}  // namespace headscope
