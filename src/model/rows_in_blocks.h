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
    RowsInBlocks(std::int64_t columns, int bits) : columns_(columns), bits_(bits) {}

    // Appends a row: one that is quantised, or the next block of one whose codes have at most so many bits.
    void quantise(std::span<const float> row);
    void add(const CodedBlock& block);
    // Writes them as the weight's rows from `first` on, and forgets them.
    void upload(Backend& backend, const Var& weight, std::int64_t first);

private:
    std::int64_t columns_;
    int bits_;
    std::vector<std::uint32_t> codes_, scales_;
};

// Quantises all rows of a weight, and gives its numbers back. `bits`: of its codes.
void store_rows(Backend& backend, const std::vector<float>& values, const Var& weight, int bits);
std::vector<float> rows_of(Backend& backend, const Var& weight, int bits);

}  // namespace headscope
