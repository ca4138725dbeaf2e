// One time step of a recurrent layer after its two products, and its backward. Operands may be strided (innermost
// stride 1), so that a step reads and writes its rows of [batch, n, columns] in place.
#pragma once

#include "backend/choices.h"
#include "backend/declarations.h"
#include "tensor/tensor.h"

namespace headscope {

// Where a step is in the texts, one of each row.
struct RecurrentPosition {
    std::int64_t position = 0;
    bool from_end = false;  // the steps go from the last position to the first
    Tensor lengths = {};    // row b is padding here if lengths[b] <= position; absent: there is no padding
    // AttentionMask::key_ranges of the documents in each row: the state after a document's last step is 0.
    Tensor documents = {};

    void declare(Declarations& d) const {
        d.in("at.lengths", lengths, {"batch"}).index().optional();
        d.in("at.documents", documents, {"batch", "length", 2}).index().optional();
    }
};

// With a = h + bias, gate by gate:
//   Lstm: i, f, o = sigmoid(x + a), g = tanh(x + a); next_state = f * state + i * g; next_hidden = o * tanh(next_state)
//   Gru:  r, z = sigmoid(x + a), n = tanh(x_n + r * a_n);  next_hidden = (1 - z) * n + z * hidden
// y = next_hidden. In a row of padding next_hidden = hidden, next_state = state and y = 0, whatever x and h hold; where
// a document ends next_hidden and next_state are 0. gates: what the backward needs, i, f, g, o or r, z, n, a_n; 0 in
// rows of padding. next_hidden may be hidden, next_state state, and the gates of Lstm x.
struct RecurrentStep {
    static constexpr const char* kName = "recurrent_step";
    RecurrentCell cell = RecurrentCell::Lstm;
    Tensor x;           // the inputs' product with their weights
    Tensor h = {};      // that of `hidden`; absent: 0
    Tensor bias = {};   // absent: 0
    Tensor hidden;      // of the step before
    Tensor state = {};  // only of Lstm, as next_state
    Tensor next_hidden, next_state = {}, y = {}, gates = {};
    RecurrentPosition at = {};

    void declare(Declarations& d) const {
        const bool lstm = cell == RecurrentCell::Lstm;
        const std::int64_t columns = next_hidden.rank() == 2 ? next_hidden.dim(1) : 0;
        d.in("x", x, {"batch", gates_of(cell) * columns}).strided();
        d.in("h", h).like(x).strided().optional();
        d.in("bias", bias, {gates_of(cell) * columns}).full().optional();
        d.in("hidden", hidden, {"batch", "columns"}).strided();
        at.declare(d);
        d.out("next_hidden", next_hidden, {"batch", "columns"}).strided().may_be(hidden);
        Declared& before = d.in("state", state, {"batch", "columns"}).full().strided();
        Declared& after = d.out("next_state", next_state, {"batch", "columns"}).full().strided().may_be(state);
        if (!lstm) {
            before.optional();
            after.optional();
        }
        d.out("y", y, {"batch", "columns"}).strided().optional();
        d.out("gates", gates, {"batch", 4 * columns}).strided().optional().may_be(x, lstm);
    }
};

// From the gradients of y, next_hidden and next_state (absent: 0) those of the rest: grad_x, which is that of h for
// Lstm, too; grad_h of Gru; grad_hidden, without what comes through h; grad_state. In rows of padding grad_x and grad_h
// are 0, grad_hidden is grad_next_hidden and grad_state grad_next_state. The last two may be in place.
struct RecurrentStepBackward {
    static constexpr const char* kName = "recurrent_step_backward";
    RecurrentCell cell = RecurrentCell::Lstm;
    Tensor gates;
    Tensor hidden = {};  // Gru
    Tensor state = {};   // Lstm
    Tensor grad_y = {}, grad_next_hidden = {}, grad_next_state = {};
    Tensor grad_x, grad_h = {}, grad_hidden, grad_state = {};
    RecurrentPosition at = {};

    void declare(Declarations& d) const {
        const bool lstm = cell == RecurrentCell::Lstm;
        const std::int64_t columns = grad_hidden.rank() == 2 ? grad_hidden.dim(1) : 0;
        d.in("gates", gates, {"batch", 4 * columns}).strided();
        at.declare(d);
        d.in("grad_y", grad_y, {"batch", "columns"}).strided().optional();
        d.in("grad_next_hidden", grad_next_hidden, {"batch", "columns"}).strided().optional();
        d.out("grad_x", grad_x, {"batch", gates_of(cell) * columns}).strided();
        d.out("grad_hidden", grad_hidden, {"batch", "columns"}).strided().may_be(grad_next_hidden);
        Declared* const of_lstm[] = {
            &d.in("state", state, {"batch", "columns"}).full().strided(),
            &d.out("grad_state", grad_state, {"batch", "columns"}).full().strided().may_be(grad_next_state)};
        Declared* const of_gru[] = {&d.in("hidden", hidden, {"batch", "columns"}).strided(),
                                    &d.out("grad_h", grad_h).like(grad_x).strided()};
        for (Declared* const operand : lstm ? of_gru : of_lstm) {
            operand->optional();
        }
        d.in("grad_next_state", grad_next_state, {"batch", "columns"}).full().strided().optional();
    }
};

}  // namespace headscope
