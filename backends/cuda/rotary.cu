// Rotate: each thread turns several neighbouring pairs of a row.
//
// Rule: out is overwritten; turning works in place. Each pair is computed in F32 and rounded once, so the order of work
// cannot show.
#include <algorithm>

#include "backend/ops/elementwise.h"
#include "backend/ops/rotary.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/visit.h"

namespace headscope::cuda {

namespace {

struct Turning {
    std::int64_t x_stride[3];
    std::int64_t out_stride[3];
    std::int64_t items;  // threads with work
    std::int64_t heads;
    std::int64_t length;
    std::int64_t pairs;
    std::int64_t positions;  // of the table
    float sign;              // -1 for the inverse
    bool neighbours;
};

// The columns of N pairs: of neighbours 2 N in a row, else N behind the first of all pairs and N behind the last.
template <int N>
__device__ inline std::int64_t second_half(const Turning& turning) {
    return turning.neighbours ? N : turning.pairs;
}

template <class T, int N>
__global__ void rotate(Turning turning, const T* x, const float* turns, const std::int32_t* first, T* out) {
    after_previous();
    const std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (item >= turning.items) {
        return;
    }
    const std::int64_t packs = turning.pairs / N;
    const std::int64_t row = item / packs;
    const std::int64_t pair = (item - row * packs) * N;
    const std::int64_t plane = row / turning.length;
    const std::int64_t index[3] = {plane / turning.heads, plane % turning.heads, row - plane * turning.length};
    std::int64_t from = turning.neighbours ? 2 * pair : pair;
    std::int64_t to = from;
    for (int dim = 0; dim < 3; ++dim) {
        from += index[dim] * turning.x_stride[dim];
        to += index[dim] * turning.out_stride[dim];
    }
    const std::int64_t position = (first == nullptr ? 0 : *first) + index[2];
    float cosine[N];
    float sine[N];
    if (position >= 0 && position < turning.positions) {
        load<N>(turns + position * 2 * turning.pairs + pair, cosine);
        load<N>(turns + (position * 2 + 1) * turning.pairs + pair, sine);
    } else {
        for (int i = 0; i < N; ++i) {
            cosine[i] = sine[i] = bits_to_float(0x7FC00000U);
        }
    }
    float values[2][N];
    load<N>(x + from, values[0]);
    load<N>(x + from + second_half<N>(turning), values[1]);
    for (int i = 0; i < N; ++i) {
        // Columns 2 i and 2 i + 1 of the two packs side by side, or column i of each.
        float& a = turning.neighbours ? values[2 * i / N][2 * i % N] : values[0][i];
        float& b = turning.neighbours ? values[(2 * i + 1) / N][(2 * i + 1) % N] : values[1][i];
        const float turned = a * cosine[i] - b * turning.sign * sine[i];
        b = b * cosine[i] + a * turning.sign * sine[i];
        a = turned;
    }
    store<N>(values[0], out + to);
    store<N>(values[1], out + to + second_half<N>(turning));
}

// Whether each thread can move N elements at once.
bool is_aligned(const Rotate& op, std::int64_t width) {
    bool divides = op.turns.dim(2) % width == 0;
    for (const Tensor* tensor : {&op.x, &op.out}) {
        for (int dim = 0; dim < 3; ++dim) {
            divides = divides && (tensor->dim(dim) == 1 || tensor->stride(dim) % width == 0);
        }
    }
    return divides && aligned({&op.x, &op.out, &op.turns}, 16);
}

}  // namespace

void CudaBackend::run(const Rotate& op) {
    const std::int64_t pairs = op.turns.dim(2);
    const std::int64_t rest = op.x.dim(3) - 2 * pairs;
    const bool in_place = op.x.buffer == op.out.buffer && op.x.offset == op.out.offset;
    if (rest > 0 && !in_place) {
        run(Copy{.x = op.x.narrow(3, 2 * pairs, rest), .out = op.out.narrow(3, 2 * pairs, rest)});
    }
    if (pairs == 0 || op.x.elements() == 0) {
        return;
    }
    Turning turning{.x_stride = {},
                    .out_stride = {},
                    .items = 0,
                    .heads = op.x.dim(1),
                    .length = op.x.dim(2),
                    .pairs = pairs,
                    .positions = op.turns.dim(0),
                    .sign = op.inverse ? -1.0F : 1.0F,
                    .neighbours = op.neighbours};
    for (int dim = 0; dim < 3; ++dim) {
        turning.x_stride[dim] = op.x.stride(dim);
        turning.out_stride[dim] = op.out.stride(dim);
    }
    const auto launch = [&](auto tag, auto width) {
        using T = decltype(tag);
        constexpr int kWidth = decltype(width)::value;
        turning.items = op.x.elements() / op.x.dim(3) * (pairs / kWidth);
        stream_.launch(Rotate::kName, rotate<T, kWidth>, item_grid(turning.items), turning, data_of<T>(op.x),
                       data_of<float>(op.turns), data_of<std::int32_t>(op.first), data_of<T>(op.out));
    };
    visit_real(Rotate::kName, op.x.dtype, [&](auto tag) {
        using T = decltype(tag);
        if (is_aligned(op, kVector<T>)) {
            launch(tag, Width<kVector<T>>{});
        } else {
            launch(tag, Width<1>{});
        }
    });
}

}  // namespace headscope::cuda
