// RecurrentStep and its backward.
//
// Rule: every output is overwritten. next_hidden may be hidden, next_state state, the gates of an LSTM x, and both
// gradients of the step before those of the step after. Each element is computed in F32 and rounded once, and depends
// on no other column, so the order of work cannot show.
#include <algorithm>
#include <vector>

#include "backend/ops/recurrent.h"
#include "backends/cpu/clones.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/row_math.h"

namespace headscope::cpu {

namespace {

constexpr std::int64_t kStepsWorthAThread = 2048;  // elements

// What a row of a step reads and writes: absent operands are a row of zeros, absent outputs one that nobody reads.
struct StepRow {
    const float *x, *h, *bias, *hidden, *state;
    float *next_hidden, *next_state, *y, *gates;
};

// Each element is read before it is written, and columns are independent of each other: outputs that are also inputs do
// not keep the loop from being vectorised.
HEADSCOPE_CLONES void lstm_step(const StepRow& row, std::int64_t d) {
    const StepRow s = row;
#pragma GCC ivdep
    for (std::int64_t j = 0; j < d; ++j) {
        const float i = sigmoid_fast(s.x[j] + (s.h[j] + s.bias[j]));
        const float f = sigmoid_fast(s.x[d + j] + (s.h[d + j] + s.bias[d + j]));
        const float g = tanh_fast(s.x[2 * d + j] + (s.h[2 * d + j] + s.bias[2 * d + j]));
        const float o = sigmoid_fast(s.x[3 * d + j] + (s.h[3 * d + j] + s.bias[3 * d + j]));
        const float state = f * s.state[j] + i * g;
        const float hidden = o * tanh_fast(state);
        s.next_state[j] = state;
        s.next_hidden[j] = hidden;
        s.y[j] = hidden;
        s.gates[j] = i;
        s.gates[d + j] = f;
        s.gates[2 * d + j] = g;
        s.gates[3 * d + j] = o;
    }
}

HEADSCOPE_CLONES void gru_step(const StepRow& row, std::int64_t d) {
    const StepRow s = row;
#pragma GCC ivdep
    for (std::int64_t j = 0; j < d; ++j) {
        const float r = sigmoid_fast(s.x[j] + (s.h[j] + s.bias[j]));
        const float z = sigmoid_fast(s.x[d + j] + (s.h[d + j] + s.bias[d + j]));
        const float a_n = s.h[2 * d + j] + s.bias[2 * d + j];
        const float n = tanh_fast(s.x[2 * d + j] + r * a_n);
        const float hidden = (1.0F - z) * n + z * s.hidden[j];
        s.next_hidden[j] = hidden;
        s.y[j] = hidden;
        s.gates[j] = r;
        s.gates[d + j] = z;
        s.gates[2 * d + j] = n;
        s.gates[3 * d + j] = a_n;
    }
}

void padding_step(const StepRow& row, std::int64_t d) {
    std::copy_n(row.hidden, row.hidden == row.next_hidden ? 0 : d, row.next_hidden);
    std::copy_n(row.state, row.state == row.next_state ? 0 : d, row.next_state);
    std::fill_n(row.y, d, 0.0F);
    std::fill_n(row.gates, 4 * d, 0.0F);
}

struct BackRow {
    const float *gates, *hidden, *state, *grad_y, *grad_next_hidden, *grad_next_state;
    float *grad_x, *grad_h, *grad_hidden, *grad_state;
};

HEADSCOPE_CLONES void lstm_back(const BackRow& row, std::int64_t d) {
    const BackRow s = row;
#pragma GCC ivdep
    for (std::int64_t j = 0; j < d; ++j) {
        const float i = s.gates[j];
        const float f = s.gates[d + j];
        const float g = s.gates[2 * d + j];
        const float o = s.gates[3 * d + j];
        const float squashed = tanh_fast(f * s.state[j] + i * g);
        const float grad = s.grad_y[j] + s.grad_next_hidden[j];
        const float grad_c = s.grad_next_state[j] + grad * o * (1.0F - squashed * squashed);
        s.grad_x[j] = grad_c * g * i * (1.0F - i);
        s.grad_x[d + j] = grad_c * s.state[j] * f * (1.0F - f);
        s.grad_x[2 * d + j] = grad_c * i * (1.0F - g * g);
        s.grad_x[3 * d + j] = grad * squashed * o * (1.0F - o);
        s.grad_hidden[j] = 0.0F;
        s.grad_state[j] = grad_c * f;
    }
}

HEADSCOPE_CLONES void gru_back(const BackRow& row, std::int64_t d) {
    const BackRow s = row;
#pragma GCC ivdep
    for (std::int64_t j = 0; j < d; ++j) {
        const float r = s.gates[j];
        const float z = s.gates[d + j];
        const float n = s.gates[2 * d + j];
        const float grad = s.grad_y[j] + s.grad_next_hidden[j];
        const float grad_n = grad * (1.0F - z) * (1.0F - n * n);
        const float grad_r = grad_n * s.gates[3 * d + j] * r * (1.0F - r);
        const float grad_z = grad * (s.hidden[j] - n) * z * (1.0F - z);
        s.grad_x[j] = grad_r;
        s.grad_x[d + j] = grad_z;
        s.grad_x[2 * d + j] = grad_n;
        s.grad_h[j] = grad_r;
        s.grad_h[d + j] = grad_z;
        s.grad_h[2 * d + j] = grad_n * r;
        s.grad_hidden[j] = grad * z;
    }
}

void padding_back(const BackRow& row, std::int64_t d, std::int64_t gates) {
    std::fill_n(row.grad_x, gates * d, 0.0F);
    std::fill_n(row.grad_h, gates * d, 0.0F);
    std::copy_n(row.grad_next_hidden, row.grad_next_hidden == row.grad_hidden ? 0 : d, row.grad_hidden);
    std::copy_n(row.grad_next_state, row.grad_next_state == row.grad_state ? 0 : d, row.grad_state);
}

// The rows of a matrix, or one row for all.
class StepRows {
public:
    StepRows(const Tensor& tensor, float* otherwise)
        : first_(tensor.defined() ? data_of<float>(tensor) : otherwise),
          step_(tensor.defined() && tensor.rank() == 2 ? tensor.stride(0) : 0) {}
    float* operator[](std::int64_t row) const { return first_ + row * step_; }

private:
    float* first_;
    std::int64_t step_;
};

bool ends_document(const RecurrentPosition& at, std::int64_t row) {
    if (!at.documents.defined()) {
        return false;
    }
    const std::int32_t* const range =
        data_of<std::int32_t>(at.documents) + 2 * (row * at.documents.dim(1) + at.position);
    return at.from_end ? range[0] >= at.position : range[1] <= at.position + 1;
}

// Calls going(row) for each row with a token at this position, and padded(row) for the others, on the threads.
template <class Going, class Padded>
void for_step_rows(ThreadPool& pool, const RecurrentPosition& at, std::int64_t rows, std::int64_t d, Going going,
                   Padded padded) {
    const std::int32_t* const lengths = data_of<std::int32_t>(at.lengths);
    pool.for_ranges(rows, kStepsWorthAThread / std::max<std::int64_t>(d, 1), [&](std::int64_t begin, std::int64_t end) {
        std::vector<float> unread(static_cast<std::size_t>(4 * d));
        for (std::int64_t row = begin; row < end; ++row) {
            const bool goes = lengths == nullptr || at.position < lengths[row];
            goes ? going(row, unread.data()) : padded(row, unread.data());
        }
    });
}

}  // namespace

void CpuBackend::run(const RecurrentStep& op) {
    const std::int64_t d = op.next_hidden.dim(1);
    const bool lstm = op.cell == RecurrentCell::Lstm;
    std::vector<float> zeros(static_cast<std::size_t>(4 * d));
    const StepRows x(op.x, nullptr), h(op.h, zeros.data()), bias(op.bias, zeros.data()), hidden(op.hidden, nullptr),
        state(lstm ? op.state : Tensor(), zeros.data()), next_hidden(op.next_hidden, nullptr);
    const auto row_of = [&](std::int64_t row, float* unread) {
        const StepRows next_state(lstm ? op.next_state : Tensor(), unread), y(op.y, unread), gates(op.gates, unread);
        return StepRow{x[row],           h[row],          bias[row], hidden[row], state[row],
                       next_hidden[row], next_state[row], y[row],    gates[row]};
    };
    for_step_rows(
        pool_, op.at, op.next_hidden.dim(0), d,
        [&](std::int64_t row, float* unread) {
            const StepRow step = row_of(row, unread);
            (lstm ? lstm_step : gru_step)(step, d);
            if (ends_document(op.at, row)) {
                std::fill_n(step.next_hidden, d, 0.0F);
                std::fill_n(step.next_state, d, 0.0F);
            }
        },
        [&](std::int64_t row, float* unread) { padding_step(row_of(row, unread), d); });
}

void CpuBackend::run(const RecurrentStepBackward& op) {
    const std::int64_t d = op.grad_hidden.dim(1);
    const bool lstm = op.cell == RecurrentCell::Lstm;
    std::vector<float> zeros(static_cast<std::size_t>(d));
    const auto given = [&](const Tensor& tensor, bool needed = true) {
        return StepRows(needed ? tensor : Tensor(), zeros.data());
    };
    const StepRows gates = given(op.gates), hidden = given(op.hidden, !lstm), state = given(op.state, lstm),
                   grad_y = given(op.grad_y), grad_next_hidden = given(op.grad_next_hidden),
                   grad_next_state = given(op.grad_next_state, lstm), grad_x = given(op.grad_x),
                   grad_hidden = given(op.grad_hidden);
    const auto row_of = [&](std::int64_t row, float* unread) {
        const StepRows grad_h(lstm ? Tensor() : op.grad_h, unread), grad_state(lstm ? op.grad_state : Tensor(), unread);
        return BackRow{gates[row],           hidden[row], state[row],  grad_y[row],      grad_next_hidden[row],
                       grad_next_state[row], grad_x[row], grad_h[row], grad_hidden[row], grad_state[row]};
    };
    for_step_rows(
        pool_, op.at, op.grad_hidden.dim(0), d,
        [&](std::int64_t row, float* unread) {
            BackRow step = row_of(row, unread);
            if (ends_document(op.at, row)) {
                step.grad_next_hidden = step.grad_next_state = zeros.data();
            }
            (lstm ? lstm_back : gru_back)(step, d);
        },
        [&](std::int64_t row, float* unread) { padding_back(row_of(row, unread), d, gates_of(op.cell)); });
}

}  // namespace headscope::cpu
