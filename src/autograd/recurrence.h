// A recurrent layer over a whole text: LSTM or GRU, from left to right and, if wanted, from right to left, too.
#pragma once

#include <vector>

#include "autograd/context.h"

namespace headscope {

// One direction's weights. Its gates are those of RecurrentStep, each with `d` rows.
struct RecurrentWeights {
    Var weight;     // [gates * d, d], of the hidden state before
    Var bias = {};  // [gates * d], added to that product; only of Gru, may be undefined
};

// The hidden states of all directions next to each other, and with Lstm what its cells hold.
struct RecurrentState {
    Var hidden = {};  // [batch, directions * d]; undefined: zeros
    Var cells = {};   // the same, of the backend's full_dtype() as an output; undefined with Gru, or zeros
};

struct Recurrence {
    Var y;                // [batch, length, directions * d], 0 in padding
    RecurrentState last;  // after each text's last token, in the second direction after its first
};

// Runs every step of one or two `directions` over `inputs` [batch, length, directions * gates * d], the products of the
// layer's inputs with their own weights, from `initial`. Of `texts` it reads where a row's padding begins and which
// documents share a row: each begins with zeros. The second direction goes from each text's own last token to its
// first. Spends `inputs`. The gradients of the weights are one product over all steps; those of `last` may be missing.
Recurrence recurrence(Context& ctx, RecurrentCell cell, const Var& inputs,
                      const std::vector<RecurrentWeights>& directions, const RecurrentState& initial,
                      const AttentionMask& texts);

// Without a tape, one direction from a given state, which it overwrites: `hidden` [batch, d], and with Lstm `cells`
// [batch, d] of the backend's full_dtype(). `inputs` [batch, length, gates * d]; result [batch, length, d].
Var continue_recurrence(Context& ctx, RecurrentCell cell, const Var& inputs, const RecurrentWeights& weights,
                        const Tensor& hidden, const Tensor& cells);

// `parts` [rows, columns] each next to each other: [rows, sum of columns], in the first one's type.
Var join(Context& ctx, const std::vector<Var>& parts);

}  // namespace headscope
