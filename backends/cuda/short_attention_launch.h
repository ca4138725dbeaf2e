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
            .backward = backward};
}

template <class Op>
Grid short_grid(const Op& op, const ShortLayout& layout) {
    return {dim3(block_count(op.q.dim(0) * op.q.dim(1))), static_cast<unsigned>(layout.warps() * kWarp),
            static_cast<std::size_t>(layout.bytes(op.dropout.rate > 0.0F))};
}

// Calls visit(T{}, Width<depth>{}) for operands of 16 bits.
template <class Op, class Visit>
void visit_matrix_heads(const Op& op, const Visit& visit) {
    const auto with_depth = [&](auto tag) {
        switch (padded_depth(op.q.dim(3), op.v.dim(3))) {
            case 32: return visit(tag, Width<32>{});
            case 64: return visit(tag, Width<64>{});
            default: return visit(tag, Width<kDeepestShort>{});
        }
    };
    if (op.q.dtype == DType::F16) {
        with_depth(Half{});
    } else {
        with_depth(BFloat16{});
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
