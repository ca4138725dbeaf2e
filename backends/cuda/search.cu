// GatherRows: rows gathered by a beam's back-pointers; top_k.cu has LogSoftmaxTopK. Paper 6.1.
//
// Rule: values, indices and out are overwritten, and share no memory with an input. Equal logits rank by the smaller
// index, NaN last. A row's sum is in F32, in an order that the number of classes and the dtype decide.
#include "backend/ops/search.h"
#include "backend/row_runs.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/visit.h"

namespace headscope::cuda {

namespace {

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
    after_previous();
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
