#include "backends/cpu/row_panels.h"

#include <algorithm>

#include "backends/cpu/clones.h"
#include "backends/cpu/lanes.h"

namespace headscope::cpu {

namespace {

// 16 columns, or the last few, of up to 16 rows.
template <bool whole>
HEADSCOPE_INLINE void pack_block(const float* rows, std::int64_t step, std::int64_t m, std::int64_t columns,
                                 float* to) {
    Lanes block[kLanes] = {};
    for (std::int64_t row = 0; row < m; ++row) {
        load<whole>(rows + row * step, columns, block[row]);
    }
    transpose(block);
    std::memcpy(to, block, static_cast<std::size_t>(std::min(columns, kPanelRows) * kPanelRows) * sizeof(float));
}

HEADSCOPE_CLONES void pack_panel(const float* rows, std::int64_t step, std::int64_t m, std::int64_t columns,
                                 float* to) {
    std::int64_t column = 0;
    for (; column + kLanes <= columns; column += kLanes) {
        pack_block<true>(rows + column, step, m, kLanes, to + column * kPanelRows);
    }
    if (column < columns) {
        pack_block<false>(rows + column, step, m, columns - column, to + column * kPanelRows);
    }
}

}  // namespace

void pack_row_panels(const float* rows, std::int64_t step, std::int64_t m, std::int64_t columns, float* to) {
    for (std::int64_t row = 0; row < m; row += kPanelRows) {
        pack_panel(rows + row * step, step, std::min(kPanelRows, m - row), columns, to + row * columns);
    }
}

}  // namespace headscope::cpu
