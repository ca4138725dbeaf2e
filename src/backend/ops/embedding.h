// Token and position embedding. Paper 3.4 and 3.5.
#pragma once

#include "backend/ops/common.h"

namespace headscope {

// out[b, i, :] = scale * table[ids[b, i], :] + positions[*first + i, :]. An id outside [0, vocabulary) or a position
// past the table gives a row of NaN, never an out-of-bounds read. Contiguous, except for positions' rows.
struct Embed {
    static constexpr const char* kName = "embed";
    Tensor ids;                // I32 [batch, length]
    Tensor table;              // T or narrow [vocabulary, d_model]
    Tensor positions = {};     // [max_length, d_model], optional
    Tensor first = {};         // I32 [1] on the device, optional (0): the cache length while decoding
    Tensor out;                // T [batch, length, d_model]
    float scale = 1.0F;        // sqrt(d_model) in the paper
    Tensor table_scales = {};  // [vocabulary], if table is I8
};

// grad_table[id, :] = scale * the sum of grad_out over the positions of id, in the given order: no atomics. Overwrite
// sets the rows of ids that do not occur to 0.
struct EmbedBackward {
    static constexpr const char* kName = "embed_backward";
    Tensor ids;         // I32 [batch, length]
    Tensor order;       // I32 [batch * length]: flat positions, stably sorted by id; -1, at the end, is skipped (pads)
    Tensor grad_out;    // T [batch, length, d_model]
    Tensor grad_table;  // out [vocabulary, d_model]
    float scale = 1.0F;
    Write write = Write::Overwrite;
};

}  // namespace headscope
