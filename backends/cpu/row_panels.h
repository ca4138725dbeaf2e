// Rows in panels of 16, stored column by column: the layout for kernels with 16 rows in the lanes of a vector.
#pragma once

#include <cstdint>

namespace headscope::cpu {

constexpr std::int64_t kPanelRows = 16;

inline std::int64_t panels_of(std::int64_t rows) {
    return (rows + kPanelRows - 1) / kPanelRows;
}

// Copies rows [m, columns] to panels [panels_of(m), columns, 16], padded with zeros. Elements are any four bytes.
void pack_row_panels(const float* rows, std::int64_t step, std::int64_t m, std::int64_t columns, float* to);

}  // namespace headscope::cpu
