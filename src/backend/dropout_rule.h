// Which elements dropout lets through, an operand of several ops. Paper 5.4.
#pragma once

#include <cstdint>

#include "backend/declarations.h"
#include "tensor/tensor.h"

namespace headscope {

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
