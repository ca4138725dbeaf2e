// Ops of beam search: the best classes of each row, and rows gathered by back-pointers. Paper 6.1.
//
// Rule: values, indices and out are overwritten, and share no memory with an input. Equal logits rank by the smaller
// index, NaN last. A row's sum is in F32, in an order that the number of classes alone decides.
#include "backend/row_runs.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/reduce.h"
#include "backends/cuda/visit.h"

namespace headscope::cuda {

namespace {

constexpr unsigned kTopKThreads = 1024;  // few rows in decoding, long vocabularies

// Larger for what ranks first: a larger value, then a smaller index; NaN ranks after all numbers.
__device__ inline std::uint64_t rank_of(float value, std::int64_t index) {
    std::uint32_t order = 0;
    if (value == value) {
        const std::uint32_t bits = float_to_bits(value + 0.0F);  // -0 is 0
        order = (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
    }
    return static_cast<std::uint64_t>(order) << 32U | (0xFFFFFFFFU - static_cast<std::uint32_t>(index));
}

// One block for each row: k times the best of those after the last one found.
template <class T>
__global__ void __launch_bounds__(kTopKThreads)
    log_softmax_top_k(const T* logits, float* values, std::int32_t* indices, std::int64_t classes, int k) {
    const T* row = logits + blockIdx.x * classes;
    float largest = -INFINITY;
    for (std::int64_t c = threadIdx.x; c < classes; c += blockDim.x) {
        const float value = to_float(row[c]);
        largest = value > largest ? value : largest;
    }
    largest = reduce_block(largest, Maximum());
    float total = 0.0F;
    for (std::int64_t c = threadIdx.x; c < classes; c += blockDim.x) {
        const float value = to_float(row[c]);
        total += value == value ? expf(value - largest) : 0.0F;
    }
    // Not added to the largest logit: rounding would cost logits in the thousands their decimals.
    const float log_rest = logf(reduce_block(total, Sum()));
    std::uint64_t last = ~std::uint64_t{0};
    for (int found = 0; found < k; ++found) {
        std::uint64_t best = 0;
        for (std::int64_t c = threadIdx.x; c < classes; c += blockDim.x) {
            const std::uint64_t rank = rank_of(to_float(row[c]), c);
            best = rank < last && rank > best ? rank : best;
        }
        last = reduce_block(best, LargestBits());
        if (threadIdx.x == 0) {
            const std::uint32_t index = 0xFFFFFFFFU - static_cast<std::uint32_t>(last);
            const std::int64_t place = static_cast<std::int64_t>(blockIdx.x) * k + found;
            values[place] = (to_float(row[index]) - largest) - log_rest;
            indices[place] = static_cast<std::int32_t>(index);
        }
    }
}

struct Gather {
    const std::int32_t* index;  // [rows]
    std::int64_t items;         // in all of out
    std::int64_t rows_in;
    std::int64_t x_row, out_row;
    std::int64_t outer, inner, length;  // one row is outer * inner runs of `length` items
    std::int64_t x_outer, x_inner, out_outer, out_inner;
};

// Item is 1, 2, 4 or 16 bytes.
template <class Item>
__global__ void gather_rows(Gather p, const Item* x, Item* out, Item absent) {
    const std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (item >= p.items) {
        return;
    }
    const std::int64_t within = item % p.length;
    const std::int64_t inner = item / p.length % p.inner;
    const std::int64_t outer = item / (p.length * p.inner) % p.outer;
    const std::int64_t row = item / (p.length * p.inner * p.outer);
    const std::int64_t from = p.index[row];
    Item& to = out[row * p.out_row + outer * p.out_outer + inner * p.out_inner + within];
    to = from >= 0 && from < p.rows_in ? x[from * p.x_row + outer * p.x_outer + inner * p.x_inner + within] : absent;
}

// The fill of a row whose index is out of range, repeated over 16 bytes.
uint4 absent_bits(DType dtype) {
    switch (dtype) {
        case DType::F32: return {0x7FC00000U, 0x7FC00000U, 0x7FC00000U, 0x7FC00000U};
        case DType::F16: return {0x7E007E00U, 0x7E007E00U, 0x7E007E00U, 0x7E007E00U};
        case DType::BF16: return {0x7FC07FC0U, 0x7FC07FC0U, 0x7FC07FC0U, 0x7FC07FC0U};
        case DType::I32:
        case DType::I8: return {0, 0, 0, 0};
        default: throw Error(std::string("the cuda backend has no gather_rows for ") + name_of(dtype));
    }
}

// Converts counts and strides to items of `width` elements. False if they are not multiples.
bool widen(Gather& p, std::int64_t width) {
    Gather wide = p;
    for (std::int64_t* value : {&wide.items, &wide.x_row, &wide.out_row, &wide.length, &wide.x_outer, &wide.x_inner,
                                &wide.out_outer, &wide.out_inner}) {
        if (*value % width != 0) {
            return false;
        }
        *value /= width;
    }
    p = wide;
    return true;
}

}  // namespace

void CudaBackend::run(const LogSoftmaxTopK& op) {
    const std::int64_t rows = op.logits.dim(0);
    if (rows == 0) {
        return;
    }
    visit_real(LogSoftmaxTopK::kName, op.logits.dtype, [&](auto tag) {
        using T = decltype(tag);
        stream_.launch(LogSoftmaxTopK::kName, log_softmax_top_k<T>,
                       row_grid(rows, op.logits.dim(1), 4, 0, kTopKThreads), data_of<T>(op.logits),
                       data_of<float>(op.values), data_of<std::int32_t>(op.indices), op.logits.dim(1),
                       static_cast<int>(op.values.dim(1)));
    });
}

void CudaBackend::run(const GatherRows& op) {
    if (op.out.elements() == 0) {
        return;
    }
    const RowRuns runs = row_runs(op.x, op.out);
    Gather gather{.index = data_of<std::int32_t>(op.index),
                  .items = op.out.elements(),
                  .rows_in = op.x.dim(0),
                  .x_row = op.x.stride(0),
                  .out_row = op.out.stride(0),
                  .outer = runs.outer,
                  .inner = runs.inner,
                  .length = runs.length,
                  .x_outer = runs.outer_step[0],
                  .x_inner = runs.inner_step[0],
                  .out_outer = runs.outer_step[1],
                  .out_inner = runs.inner_step[1]};
    const uint4 absent = absent_bits(op.x.dtype);
    const auto width = static_cast<std::int64_t>(16 / size_of(op.x.dtype));
    const auto launch = [&](auto item) {
        using Item = decltype(item);
        stream_.launch(GatherRows::kName, gather_rows<Item>, item_grid(gather.items), gather, data_of<Item>(op.x),
                       data_of<Item>(op.out), item);
    };
    if (aligned({&op.x, &op.out}, 16) && widen(gather, width)) {
        launch(absent);
    } else if (size_of(op.x.dtype) == sizeof(std::uint32_t)) {
        launch(absent.x);
    } else if (size_of(op.x.dtype) == sizeof(std::uint16_t)) {
        launch(static_cast<std::uint16_t>(absent.x));
    } else {
        launch(static_cast<std::uint8_t>(absent.x));
    }
}

}  // namespace headscope::cuda
