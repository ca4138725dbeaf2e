// Which short attention runs on tensor cores, and its launch.
#pragma once

#include "backends/cuda/fused_attention_tiles.h"
#include "backends/cuda/short_attention.h"

namespace headscope::cuda {

template <class Op>
ShortLayout short_layout(const Op& op, bool backward) {
    return {.query_tiles = row_tiles(op.q.dim(2)),
            .key_tiles = row_tiles(op.k.dim(2)),
            .depth = padded_depth(op.q.dim(3), op.v.dim(3)),
            .backward = backward,
            .element = static_cast<int>(size_of(op.q.dtype))};
}

template <class Op>
Grid short_grid(const Op& op, const ShortLayout& layout) {
    return {dim3(block_count(op.q.dim(0) * op.q.dim(1))), static_cast<unsigned>(layout.warps() * kWarp),
            static_cast<std::size_t>(layout.bytes(op.dropout.rate > 0.0F))};
}

// Whether tensor cores may multiply the operands: in 16 bits as they are, F32 in TF32 if products need not be as exact.
// BF16 and F16 round more than that.
template <class Op>
bool may_round(const Op& op) {
    return op.q.dtype != DType::F32 || op.compute != Compute::F32;
}

// Calls visit(T{}, Width<depth>{}) for such operands.
template <class Op, class Visit>
void visit_matrix_heads(const Op& op, const Visit& visit) {
    const auto with_depth = [&](auto tag) {
        switch (padded_depth(op.q.dim(3), op.v.dim(3))) {
            case 32: return visit(tag, Width<32>{});
            case 64: return visit(tag, Width<64>{});
            default: return visit(tag, Width<kDeepestShort>{});
        }
    };
    switch (op.q.dtype) {
        case DType::F32: return with_depth(float{});
        case DType::F16: return with_depth(Half{});
        default: return with_depth(BFloat16{});
    }
}

// Calls visit(T{}, Width<depth>{}, Width<tiles of keys>{}).
template <class Op, class Visit>
void visit_short(const Op& op, const Visit& visit) {
    visit_matrix_heads(op, [&](auto tag, auto depth) {
        switch (padded_key_tiles(op.k.dim(2))) {
            case 6: return visit(tag, depth, Width<6>{});
            case 8: return visit(tag, depth, Width<8>{});
            default: return visit(tag, depth, Width<16>{});
        }
    });
}

}  // namespace headscope::cuda
