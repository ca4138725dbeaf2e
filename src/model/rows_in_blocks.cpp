#include "model/rows_in_blocks.h"

#include <algorithm>

namespace headscope {

void RowsInBlocks::quantise(std::span<const float> row) {
    for (std::size_t first = 0; first < row.size(); first += kBlockColumns) {
        add(quantise_block(row.subspan(first, std::min<std::size_t>(kBlockColumns, row.size() - first)), bits_));
    }
}

void RowsInBlocks::add(const CodedBlock& block) {
    const auto words = static_cast<std::size_t>(code_words(kBlockColumns, bits_));
    codes_.resize(codes_.size() + words);
    pack_codes(block, bits_, codes_.data() + codes_.size() - words);
    scales_.push_back(scales_of(block));
}

void RowsInBlocks::upload(Backend& backend, const Var& weight, std::int64_t first) {
    const std::int64_t rows = std::ssize(scales_) / std::max<std::int64_t>(blocks_of(columns_), 1);
    const auto put = [&](const Tensor& to, const std::vector<std::uint32_t>& words) {
        backend.upload(to.narrow(0, first, rows), words.data(), words.size() * sizeof(std::uint32_t));
    };
    put(weight.value(), codes_);
    put(weight.scales(), scales_);
    codes_.clear();
    scales_.clear();
}

void store_rows(Backend& backend, const std::vector<float>& values, const Var& weight, int bits) {
    const auto columns = static_cast<std::size_t>(weight.shape()[1]);
    RowsInBlocks rows(static_cast<std::int64_t>(columns), bits);
    for (std::size_t first = 0; first < values.size(); first += columns) {
        rows.quantise({values.data() + first, columns});
    }
    rows.upload(backend, weight, 0);
}

std::vector<float> rows_of(Backend& backend, const Var& weight, int bits) {
    const auto codes = to_host<std::int32_t>(backend, weight.value());
    const auto scales = to_host<std::int32_t>(backend, weight.scales());
    const auto rows = static_cast<std::size_t>(weight.shape()[0]);
    const auto columns = static_cast<std::size_t>(weight.shape()[1]);
    std::vector<float> values(rows * columns);
    for (std::size_t row = 0; row < rows; ++row) {
        unpack_row(reinterpret_cast<const std::uint32_t*>(codes.data()) + row * codes.size() / rows,
                   reinterpret_cast<const std::uint32_t*>(scales.data()) + row * scales.size() / rows, bits,
                   {values.data() + row * columns, columns});
    }
    return values;
}

}  // namespace headscope
