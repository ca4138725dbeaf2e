// Token and position embedding. Paper 3.4 and 3.5.
#pragma once

#include "backend/choices.h"
#include "backend/declarations.h"
#include "tensor/tensor.h"

namespace headscope {

// out[b, i, :] = scale * table[ids[b, i], :] + positions[*first + i, :]. kNoToken adds nothing to the position. Any
// other id outside [0, vocabulary) or a position past the table gives a row of NaN, never an out-of-bounds read.
// Contiguous, except for positions' rows.
struct Embed {
    static constexpr const char* kName = "embed";
    static constexpr std::int32_t kNoToken = -1;
    Tensor ids, table, positions = {};
    Tensor first = {};  // absent: 0; the cache length while decoding
    Tensor out;
    float scale = 1.0F;  // sqrt(d_model) in the paper
    Tensor table_scales = {};

    void declare(Declarations& d) const {
        d.in("ids", ids, {"batch", "length"}).index();
        d.in("table", table, {"vocabulary", "d_model"}).as(OperandType::Weight);
        d.in("positions", positions, {"max_length", "d_model"}).full().strided().optional();
        d.in("first", first, {1}).index().optional();
        d.out("out", out, {"batch", "length", "d_model"});
        d.in("table_scales", table_scales, {"vocabulary"}).scales(table);
    }
};

// grad_table[id, :] = scale * the sum of grad_out over the positions of id, in the given order: no atomics. Ids outside
// [0, vocabulary), such as kNoToken, are skipped. Overwrite sets the rows of ids that do not occur to 0.
struct EmbedBackward {
    static constexpr const char* kName = "embed_backward";
    Tensor ids;
    Tensor order;  // flat positions, stably sorted by id; -1, at the end, is skipped (pads)
    Tensor grad_out, grad_table;
    float scale = 1.0F;
    Write write = Write::Overwrite;

    void declare(Declarations& d) const {
        d.in("ids", ids, {"batch", "length"}).index();
        d.in("order", order, {ids.elements()}).index();
        d.in("grad_out", grad_out, {"batch", "length", "d_model"});
        d.gradient("grad_table", grad_table, write, {"vocabulary", "d_model"}).full();
    }
};

}  // namespace headscope
