// RecurrentStep and its backward: each thread has several neighbouring columns of a row, in every gate.
//
// Rule: every output is overwritten. next_hidden may be hidden, next_state state, the gates of an LSTM x, and both
// gradients of the step before those of the step after. Each element is computed in F32 and rounded once, and depends
// on no other column, so the order of work cannot show.
#include <algorithm>

#include "backend/ops/recurrent.h"
#include "backends/cuda/activation.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/visit.h"

namespace headscope::cuda {

namespace {

// A matrix with strided rows; `first` is null if it is absent.
template <class T>
struct StepMatrix {
    T* first = nullptr;
    std::int64_t step = 0;

    explicit StepMatrix(const Tensor& tensor)
        : first(data_of<T>(tensor)), step(tensor.defined() ? tensor.stride(0) : 0) {}

    template <int N>
    __device__ void read(std::int64_t row, std::int64_t column, float (&to)[N]) const {
        if (first != nullptr) {
            load<N>(first + row * step + column, to);
        } else {
            for (int i = 0; i < N; ++i) {
                to[i] = 0.0F;
            }
        }
    }
    template <int N>
    __device__ void write(std::int64_t row, std::int64_t column, const float (&from)[N]) const {
        if (first != nullptr) {
            store<N>(from, first + row * step + column);
        }
    }
};

struct StepSize {
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t position;
    std::int64_t length;
    const std::int32_t* lengths;    // or null
    const std::int32_t* documents;  // or null
    bool from_end;
    bool gru;
};

struct StepPlace {
    std::int64_t row;
    std::int64_t column;
    bool goes;   // it is no padding
    bool stops;  // a document ends
};

template <int N>
__device__ inline bool place_of(const StepSize& size, StepPlace& place) {
    const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * N;
    if (first >= size.rows * size.columns) {
        return false;
    }
    place.row = first / size.columns;
    place.column = first - place.row * size.columns;
    place.goes = size.lengths == nullptr || size.position < size.lengths[place.row];
    place.stops = false;
    if (place.goes && size.documents != nullptr) {
        const std::int32_t* const range = size.documents + 2 * (place.row * size.length + size.position);
        place.stops = size.from_end ? range[0] >= size.position : range[1] <= size.position + 1;
    }
    return true;
}

template <class T>
struct StepKernel {
    StepSize size;
    StepMatrix<T> x, h, hidden, next_hidden, y, gates;
    StepMatrix<float> state, next_state;
    const float* bias;
};

template <class T, int N>
__global__ void recurrent_step(StepKernel<T> p) {
    after_previous();
    StepPlace at;
    if (!place_of<N>(p.size, at)) {
        return;
    }
    const int gates = p.size.gru ? 3 : 4;
    float input[4][N];
    float recurrent[4][N];
    for (int gate = 0; gate < gates; ++gate) {
        const std::int64_t column = gate * p.size.columns + at.column;
        p.x.read(at.row, column, input[gate]);
        p.h.read(at.row, column, recurrent[gate]);
        for (int i = 0; i < N; ++i) {
            recurrent[gate][i] += p.bias == nullptr ? 0.0F : p.bias[column + i];
        }
    }
    float hidden[N];
    float state[N];
    p.hidden.read(at.row, at.column, hidden);
    p.state.read(at.row, at.column, state);
    float kept[4][N];
    float y[N];
    for (int i = 0; i < N; ++i) {
        kept[0][i] = sigmoid(input[0][i] + recurrent[0][i]);
        kept[1][i] = sigmoid(input[1][i] + recurrent[1][i]);
        float next = 0.0F;
        if (p.size.gru) {
            kept[2][i] = squash(input[2][i] + kept[0][i] * recurrent[2][i]);
            kept[3][i] = recurrent[2][i];
            next = (1.0F - kept[1][i]) * kept[2][i] + kept[1][i] * hidden[i];
        } else {
            kept[2][i] = squash(input[2][i] + recurrent[2][i]);
            kept[3][i] = sigmoid(input[3][i] + recurrent[3][i]);
            const float next_state = kept[1][i] * state[i] + kept[0][i] * kept[2][i];
            next = kept[3][i] * squash(next_state);
            state[i] = at.stops ? 0.0F : at.goes ? next_state : state[i];
        }
        hidden[i] = at.stops ? 0.0F : at.goes ? next : hidden[i];
        y[i] = at.goes ? next : 0.0F;
        for (int gate = 0; gate < 4; ++gate) {
            kept[gate][i] = at.goes ? kept[gate][i] : 0.0F;
        }
    }
    p.next_hidden.write(at.row, at.column, hidden);
    p.next_state.write(at.row, at.column, state);
    p.y.write(at.row, at.column, y);
    for (int gate = 0; gate < 4; ++gate) {
        p.gates.write(at.row, gate * p.size.columns + at.column, kept[gate]);
    }
}

template <class T>
struct StepBackwardKernel {
    StepSize size;
    StepMatrix<T> gates, hidden, grad_y, grad_next_hidden, grad_x, grad_h, grad_hidden;
    StepMatrix<float> state, grad_next_state, grad_state;
};

template <class T, int N>
__global__ void recurrent_step_backward(StepBackwardKernel<T> p) {
    after_previous();
    StepPlace at;
    if (!place_of<N>(p.size, at)) {
        return;
    }
    float kept[4][N];
    for (int gate = 0; gate < 4; ++gate) {
        p.gates.read(at.row, gate * p.size.columns + at.column, kept[gate]);
    }
    float hidden[N];
    float state[N];
    float grad_y[N];
    float grad_hidden[N];
    float grad_state[N];
    p.hidden.read(at.row, at.column, hidden);
    p.state.read(at.row, at.column, state);
    p.grad_y.read(at.row, at.column, grad_y);
    p.grad_next_hidden.read(at.row, at.column, grad_hidden);
    p.grad_next_state.read(at.row, at.column, grad_state);
    float grads[4][N] = {};
    float grad_a_n[N] = {};  // of the recurrent part of GRU's n
    for (int i = 0; i < N; ++i) {
        const float grad = at.stops ? grad_y[i] : grad_y[i] + grad_hidden[i];
        if (p.size.gru) {
            const float r = kept[0][i];
            const float z = kept[1][i];
            const float n = kept[2][i];
            grads[2][i] = grad * (1.0F - z) * (1.0F - n * n);
            grads[0][i] = grads[2][i] * kept[3][i] * r * (1.0F - r);
            grads[1][i] = grad * (hidden[i] - n) * z * (1.0F - z);
            grad_a_n[i] = at.goes ? grads[2][i] * r : 0.0F;
            grad_hidden[i] = at.goes ? grad * z : grad_hidden[i];
        } else {
            const float in = kept[0][i];
            const float f = kept[1][i];
            const float g = kept[2][i];
            const float o = kept[3][i];
            const float squashed = squash(f * state[i] + in * g);
            const float grad_c = (at.stops ? 0.0F : grad_state[i]) + grad * o * (1.0F - squashed * squashed);
            grads[0][i] = grad_c * g * in * (1.0F - in);
            grads[1][i] = grad_c * state[i] * f * (1.0F - f);
            grads[2][i] = grad_c * in * (1.0F - g * g);
            grads[3][i] = grad * squashed * o * (1.0F - o);
            grad_state[i] = at.goes ? grad_c * f : grad_state[i];
            grad_hidden[i] = at.goes ? 0.0F : grad_hidden[i];
        }
        for (int gate = 0; gate < 4; ++gate) {
            grads[gate][i] = at.goes ? grads[gate][i] : 0.0F;
        }
    }
    const int gates = p.size.gru ? 3 : 4;
    for (int gate = 0; gate < gates; ++gate) {
        p.grad_x.write(at.row, gate * p.size.columns + at.column, grads[gate]);
        p.grad_h.write(at.row, gate * p.size.columns + at.column, gate == 2 ? grad_a_n : grads[gate]);
    }
    p.grad_hidden.write(at.row, at.column, grad_hidden);
    p.grad_state.write(at.row, at.column, grad_state);
}

template <class Op>
StepSize size_of_step(const Op& op, const Tensor& hidden) {
    return {hidden.dim(0),
            hidden.dim(1),
            op.at.position,
            op.at.documents.defined() ? op.at.documents.dim(1) : 0,
            data_of<std::int32_t>(op.at.lengths),
            data_of<std::int32_t>(op.at.documents),
            op.at.from_end,
            op.cell == RecurrentCell::Gru};
}

// Calls visit(T{}, Width<N>{}) as visit_rows(), for matrices of which some may have strides or be absent.
template <class Visit>
void visit_steps(const char* op, const Tensor& hidden, std::initializer_list<const Tensor*> matrices,
                 const Visit& visit) {
    const std::int64_t width = static_cast<std::int64_t>(16 / size_of(hidden.dtype));
    const bool even = std::all_of(matrices.begin(), matrices.end(), [&](const Tensor* matrix) {
        return !matrix->defined() || matrix->stride(0) % width == 0;
    });
    visit_rows(op, hidden.dtype, even ? hidden.dim(1) : 1, matrices, visit);
}

}  // namespace

void CudaBackend::run(const RecurrentStep& op) {
    const std::int64_t count = op.next_hidden.elements();
    if (count == 0) {
        return;
    }
    visit_steps(
        RecurrentStep::kName, op.next_hidden,
        {&op.x, &op.h, &op.hidden, &op.state, &op.next_hidden, &op.next_state, &op.y, &op.gates},
        [&](auto tag, auto width) {
            using T = decltype(tag);
            constexpr int N = decltype(width)::value;
            const StepKernel<T> kernel{
                size_of_step(op, op.next_hidden), StepMatrix<T>(op.x),           StepMatrix<T>(op.h),
                StepMatrix<T>(op.hidden),         StepMatrix<T>(op.next_hidden), StepMatrix<T>(op.y),
                StepMatrix<T>(op.gates),          StepMatrix<float>(op.state),   StepMatrix<float>(op.next_state),
                data_of<float>(op.bias)};
            stream_.launch(RecurrentStep::kName, recurrent_step<T, N>, item_grid(count / N), kernel);
        });
}

void CudaBackend::run(const RecurrentStepBackward& op) {
    const std::int64_t count = op.grad_hidden.elements();
    if (count == 0) {
        return;
    }
    visit_steps(RecurrentStepBackward::kName, op.grad_hidden,
                {&op.gates, &op.hidden, &op.state, &op.grad_y, &op.grad_next_hidden, &op.grad_next_state, &op.grad_x,
                 &op.grad_h, &op.grad_hidden, &op.grad_state},
                [&](auto tag, auto width) {
                    using T = decltype(tag);
                    constexpr int N = decltype(width)::value;
                    const StepBackwardKernel<T> kernel{
                        size_of_step(op, op.grad_hidden),   StepMatrix<T>(op.gates),
                        StepMatrix<T>(op.hidden),           StepMatrix<T>(op.grad_y),
                        StepMatrix<T>(op.grad_next_hidden), StepMatrix<T>(op.grad_x),
                        StepMatrix<T>(op.grad_h),           StepMatrix<T>(op.grad_hidden),
                        StepMatrix<float>(op.state),        StepMatrix<float>(op.grad_next_state),
                        StepMatrix<float>(op.grad_state)};
                    stream_.launch(RecurrentStepBackward::kName, recurrent_step_backward<T, N>, item_grid(count / N),
                                   kernel);
                });
}

}  // namespace headscope::cuda
