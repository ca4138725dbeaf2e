// Products and embeddings of weights in blocks of 8 or 4 bits, laid out as tensor/blocks.h says. The other operands are
// not rounded, so a result is that of the numbers for which the codes stand.
#pragma once

#include "backend/choices.h"
#include "backend/declarations.h"
#include "tensor/blocks.h"
#include "tensor/tensor.h"

namespace headscope {

// Of a weight of so many columns with these operands.
inline BlockForm form_of(const Tensor& codes, const Tensor& scales, std::int64_t columns) {
    return {.bits = codes.dim(1) == code_words(columns, 8) ? 8 : 4, .factors = scales.dim(1) != blocks_of(columns)};
}

// Of x: for so many the backends read codes as they multiply; for more, rows of W first become numbers.
inline constexpr std::int64_t kFewBlockRows = 8;

// y = alpha * x . W^T, as Matmul with transpose_b. Rows of x may be strided. An infinity in a row of x makes the row of
// y infinite or NaN: the parts of a sum with scales and with least values may be infinities of both signs.
struct BlockLinear {
    static constexpr const char* kName = "block_linear";
    Tensor x, codes, scales, y;
    float alpha = 1.0F;

    void declare(Declarations& d) const {
        d.in("x", x, {"rows", "in"}).full().strided();
        d.in("codes", codes, {"out", "words"}).index();
        d.in("scales", scales, {"out", "scale_words"}).index();
        d.out("y", y, {"rows", "out"}).full();
    }
};

// out[b, i, :] = scale * table[ids[b, i], :], with ids as Embed's. Without ids: all rows of the table in their order.
struct BlockEmbed {
    static constexpr const char* kName = "block_embed";
    Tensor ids = {};
    Tensor codes, scales, out;
    float scale = 1.0F;

    void declare(Declarations& d) const {
        d.in("ids", ids, {"batch", "length"}).index().optional();
        d.in("codes", codes, {"vocabulary", "words"}).index();
        d.in("scales", scales, {"vocabulary", "scale_words"}).index();
        d.out("out", out, {"batch", "length", "d_model"}).full();
    }
};

}  // namespace headscope
