#include <cmath>

#include "backend/ops/recurrent.h"
#include "backends/cpu/reference/reference.h"

namespace headscope {

namespace {

template <class Real>
Real logistic(Real x) {
    return 1 / (1 + std::exp(-x));
}

bool is_padding(const RecurrentPosition& at, std::int64_t row) {
    return at.lengths.defined() && data_of<std::int32_t>(at.lengths)[row] <= at.position;
}

bool ends_document(const RecurrentPosition& at, std::int64_t row) {
    if (!at.documents.defined()) {
        return false;
    }
    const std::int32_t* const range =
        data_of<std::int32_t>(at.documents) + 2 * (row * at.documents.dim(1) + at.position);
    return at.from_end ? range[0] >= at.position : range[1] <= at.position + 1;
}

// A matrix [rows, columns], or zeros.
template <class Real>
struct Matrix {
    explicit Matrix(const Tensor& tensor) : view(tensor.defined() ? View4<Real>(tensor) : View4<Real>()) {}
    Real operator()(std::int64_t row, std::int64_t column) const {
        return view.data == nullptr ? Real{0} : view.at(0, 0, row, column);
    }
    void set(std::int64_t row, std::int64_t column, Real value) const {
        if (view.data != nullptr) {
            view.at(0, 0, row, column) = value;
        }
    }
    View4<Real> view;
};

}  // namespace

template <class Real>
void CpuReference<Real>::run(const RecurrentStep& op) {
    const bool lstm = op.cell == RecurrentCell::Lstm;
    const std::int64_t d = op.next_hidden.dim(1);
    const Matrix<Real> x(op.x), h(op.h), hidden(op.hidden), state(op.state), next_hidden(op.next_hidden),
        next_state(op.next_state), y(op.y), gates(op.gates);
    const Real* const bias = data_of<Real>(op.bias);
    for (std::int64_t b = 0; b < op.next_hidden.dim(0); ++b) {
        for (std::int64_t j = 0; j < d; ++j) {
            const auto a = [&](std::int64_t gate) {
                return h(b, gate * d + j) + (bias == nullptr ? Real{0} : bias[gate * d + j]);
            };
            const auto sum = [&](std::int64_t gate) { return x(b, gate * d + j) + a(gate); };
            const bool goes = !is_padding(op.at, b);
            const bool ends = goes && ends_document(op.at, b);
            Real kept[4] = {};
            Real new_hidden = hidden(b, j);
            Real new_state = lstm ? state(b, j) : Real{0};
            if (goes && lstm) {
                const Real i = logistic(sum(0)), f = logistic(sum(1)), g = std::tanh(sum(2)), o = logistic(sum(3));
                new_state = f * new_state + i * g;
                new_hidden = o * std::tanh(new_state);
                kept[0] = i, kept[1] = f, kept[2] = g, kept[3] = o;
            } else if (goes) {
                const Real r = logistic(sum(0)), z = logistic(sum(1)), n = std::tanh(x(b, 2 * d + j) + r * a(2));
                new_hidden = (1 - z) * n + z * new_hidden;
                kept[0] = r, kept[1] = z, kept[2] = n, kept[3] = a(2);
            }
            next_hidden.set(b, j, ends ? Real{0} : new_hidden);
            if (lstm) {
                next_state.set(b, j, ends ? Real{0} : new_state);
            }
            y.set(b, j, goes ? new_hidden : Real{0});
            for (std::int64_t gate = 0; gate < 4; ++gate) {
                gates.set(b, gate * d + j, kept[gate]);
            }
        }
    }
}

template <class Real>
void CpuReference<Real>::run(const RecurrentStepBackward& op) {
    const bool lstm = op.cell == RecurrentCell::Lstm;
    const std::int64_t d = op.grad_hidden.dim(1);
    const Matrix<Real> gates(op.gates), hidden(op.hidden), state(op.state), grad_y(op.grad_y),
        grad_next_hidden(op.grad_next_hidden), grad_next_state(op.grad_next_state), grad_x(op.grad_x),
        grad_h(op.grad_h), grad_hidden(op.grad_hidden), grad_state(op.grad_state);
    for (std::int64_t b = 0; b < op.grad_hidden.dim(0); ++b) {
        for (std::int64_t j = 0; j < d; ++j) {
            const Real carried = grad_next_hidden(b, j);
            const Real carried_state = lstm ? grad_next_state(b, j) : Real{0};
            const auto gate = [&](std::int64_t index) { return gates(b, index * d + j); };
            const auto put = [&](const Matrix<Real>& to, std::int64_t index, Real value) {
                to.set(b, index * d + j, value);
            };
            if (is_padding(op.at, b)) {
                for (std::int64_t index = 0; index < gates_of(op.cell); ++index) {
                    put(grad_x, index, 0);
                    if (!lstm) {
                        put(grad_h, index, 0);
                    }
                }
                grad_hidden.set(b, j, carried);
                if (lstm) {
                    grad_state.set(b, j, carried_state);
                }
                continue;
            }
            const bool ends = ends_document(op.at, b);
            const Real grad = grad_y(b, j) + (ends ? Real{0} : carried);
            if (lstm) {
                const Real i = gate(0), f = gate(1), g = gate(2), o = gate(3);
                const Real squashed = std::tanh(f * state(b, j) + i * g);
                const Real grad_c = (ends ? Real{0} : carried_state) + grad * o * (1 - squashed * squashed);
                put(grad_x, 0, grad_c * g * i * (1 - i));
                put(grad_x, 1, grad_c * state(b, j) * f * (1 - f));
                put(grad_x, 2, grad_c * i * (1 - g * g));
                put(grad_x, 3, grad * squashed * o * (1 - o));
                grad_hidden.set(b, j, 0);
                grad_state.set(b, j, grad_c * f);
            } else {
                const Real r = gate(0), z = gate(1), n = gate(2), a_n = gate(3);
                const Real grad_n = grad * (1 - z) * (1 - n * n);
                const Real grad_r = grad_n * a_n * r * (1 - r);
                const Real grad_z = grad * (hidden(b, j) - n) * z * (1 - z);
                for (const Matrix<Real>* to : {&grad_x, &grad_h}) {
                    put(*to, 0, grad_r);
                    put(*to, 1, grad_z);
                }
                put(grad_x, 2, grad_n);
                put(grad_h, 2, grad_n * r);
                grad_hidden.set(b, j, grad * z);
            }
        }
    }
}

#define HEADSCOPE_INSTANTIATE(Real)                              \
    template void CpuReference<Real>::run(const RecurrentStep&); \
    template void CpuReference<Real>::run(const RecurrentStepBackward&);
HEADSCOPE_INSTANTIATE(float)
HEADSCOPE_INSTANTIATE(double)
#undef HEADSCOPE_INSTANTIATE

}  // namespace headscope
