// Rows of a weight on their way into blocks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "autograd/variable.h"
#include "tensor/blocks.h"

namespace headscope {

class RowsInBlocks {
public:
    RowsInBlocks(std::int64_t columns, const BlockForm& form) : columns_(columns), form_(form) {}

    // Appends a row that is quantised. False if its numbers are too large for scales in F16.
    [[nodiscard]] bool quantise(std::span<const float> row);
    // Appends the next block of a row, which the form holds.
    void add(const CodedBlock& block);
    // Writes them as the weight's rows from `first` on, and forgets them.
    void upload(Backend& backend, const Var& weight, std::int64_t first);

private:
    std::int64_t columns_;
    BlockForm form_;
    std::vector<std::uint32_t> codes_, scales_;
};

// Quantises all rows of a weight, and gives its numbers back. Error if numbers are too large.
void store_rows(Backend& backend, const std::vector<float>& values, const Var& weight, const BlockForm& form);
std::vector<float> rows_of(Backend& backend, const Var& weight, const BlockForm& form);

}  // namespace headscope
