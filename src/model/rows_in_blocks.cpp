#include "model/rows_in_blocks.h"

#include <algorithm>
#include <string>

#include "support/check.h"

namespace headscope {

bool RowsInBlocks::quantise(std::span<const float> row) {
    bool fits = true;
    for (std::size_t first = 0; first < row.size(); first += kBlockColumns) {
        const CodedBlock block =
            quantise_block(row.subspan(first, std::min<std::size_t>(kBlockColumns, row.size() - first)), form_.bits);
        fits = fits && is_finite(block);
        add(block);
    }
    return fits;
}

void RowsInBlocks::add(const CodedBlock& block) {
    const auto words = static_cast<std::size_t>(code_words(kBlockColumns, form_.bits));
    codes_.resize(codes_.size() + words);
    pack_codes(block, form_.bits, codes_.data() + codes_.size() - words);
    scales_.push_back(scales_of(block));
    if (form_.factors) {
        scales_.push_back(factors_of(block));
    }
}

void RowsInBlocks::upload(Backend& backend, const Var& weight, std::int64_t first) {
    const std::int64_t rows = std::ssize(scales_) / std::max<std::int64_t>(scale_words(columns_, form_.factors), 1);
    const auto put = [&](const Tensor& to, const std::vector<std::uint32_t>& words) {
        backend.upload(to.narrow(0, first, rows), words.data(), words.size() * sizeof(std::uint32_t));
    };
    put(weight.value(), codes_);
    put(weight.scales(), scales_);
    codes_.clear();
    scales_.clear();
}

void store_rows(Backend& backend, const std::vector<float>& values, const Var& weight, const BlockForm& form) {
    const auto columns = static_cast<std::size_t>(weight.shape()[1]);
    RowsInBlocks rows(static_cast<std::int64_t>(columns), form);
    for (std::size_t first = 0; first < values.size(); first += columns) {
        if (!rows.quantise({values.data() + first, columns})) {
            throw Error(weight.name() + " has numbers that are too large for blocks of " + std::to_string(form.bits) +
                        " bits");
        }
    }
    rows.upload(backend, weight, 0);
}

std::vector<float> rows_of(Backend& backend, const Var& weight, const BlockForm& form) {
    const auto codes = to_host<std::int32_t>(backend, weight.value());
    const auto scales = to_host<std::int32_t>(backend, weight.scales());
    const auto rows = static_cast<std::size_t>(weight.shape()[0]);
    const auto columns = static_cast<std::size_t>(weight.shape()[1]);
    std::vector<float> values(rows * columns);
    for (std::size_t row = 0; row < rows; ++row) {
        unpack_row(reinterpret_cast<const std::uint32_t*>(codes.data()) + row * codes.size() / rows,
                   reinterpret_cast<const std::uint32_t*>(scales.data()) + row * scales.size() / rows, form,
                   {values.data() + row * columns, columns});
    }
    return values;
}

}  // namespace headscope
