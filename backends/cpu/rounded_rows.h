// Rows of a product rounded to I8, each with a scale of its own, as quantisation.h says.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/products.h"

namespace headscope::cpu {

struct RoundedRows {
    static constexpr std::int64_t kPadding = 64;  // rows are padded with zeros to a multiple of it

    const std::int8_t* row(std::int64_t index) const { return values.data() + index * step; }

    std::int64_t step = 0;
    std::vector<std::int8_t> values;  // [m, step]
    std::vector<float> scales;        // [m]; NaN for a row that holds NaN or infinity
    std::vector<std::int32_t> sums;   // [m]
};

void round_rows(ThreadPool& pool, const StoredProduct& product, RoundedRows& to);

}  // namespace headscope::cpu
