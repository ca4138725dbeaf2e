// Rows of weights in blocks (tensor/blocks.h), and what their scales stand for.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/blocks.h"
#include "tensor/tensor.h"

namespace headscope::cpu {

struct BlockWeight {
    const std::uint8_t* codes;
    const std::uint32_t* scales;
    std::int64_t rows, columns, blocks, row_bytes, row_scales;
    BlockForm form;

    BlockWeight(const Tensor& code_words, const Tensor& scale_words, std::int64_t of_columns);

    // Numbers of BlockScales.
    int scales_of_block() const { return form.factors ? 4 : 2; }
};

// What the words of scales of some rows stand for: for each block its scale and its least value, or with factors the
// scales of both halves and then their least values.
class BlockScales {
public:
    explicit BlockScales(const BlockWeight& weight)
        : weight_(weight), step_(static_cast<std::size_t>(weight.blocks * weight.scales_of_block())) {}

    // Of rows [first, first + count).
    void read(std::int64_t first, std::int64_t count);
    // Of the row `row` of those.
    const float* row(std::int64_t row) const { return values_.data() + static_cast<std::size_t>(row) * step_; }

private:
    const BlockWeight& weight_;
    std::size_t step_;  // of a row
    std::vector<std::uint32_t> words_;
    std::vector<float> pairs_, values_;
};

// to = scale * (the numbers of a row).
void widen(const BlockWeight& weight, std::int64_t row, float scale, BlockScales& scales, float* to);

}  // namespace headscope::cpu
