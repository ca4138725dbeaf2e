#include "backends/cpu/row_panels.h"

#include <algorithm>

#include "backends/cpu/clones.h"
#include "backends/cpu/lanes.h"

namespace headscope::cpu {

namespace {

// 16 columns, or the last few, of up to 16 rows.
template <class Lanes, bool whole>
HEADSCOPE_INLINE void pack_block(const float* rows, std::int64_t step, std::int64_t m, std::int64_t columns,
                                 float* to) {
    Lanes block[kLanes];
    set_zero(block);
    for (std::int64_t row = 0; row < m; ++row) {
        block[row].template load<whole>(rows + row * step, columns);
    }
    transpose(block);
    for (std::int64_t column = 0; column < std::min(columns, kPanelRows); ++column) {
        block[column].store(to + column * kPanelRows);
    }
}

template <class Lanes>
HEADSCOPE_INLINE void pack_blocks(const float* rows, std::int64_t step, std::int64_t m, std::int64_t columns,
                                  float* to) {
    std::int64_t column = 0;
    for (; column + kLanes <= columns; column += kLanes) {
        pack_block<Lanes, true>(rows + column, step, m, kLanes, to + column * kPanelRows);
    }
    if (column < columns) {
        pack_block<Lanes, false>(rows + column, step, m, columns - column, to + column * kPanelRows);
    }
}

HEADSCOPE_VECTOR_CLONES(void pack_panel(const float* rows, std::int64_t step, std::int64_t m, std::int64_t columns,
                                        float* to),
                        { pack_blocks<Lanes>(rows, step, m, columns, to); })

}  // namespace

void pack_row_panels(const float* rows, std::int64_t step, std::int64_t m, std::int64_t columns, float* to) {
    for (std::int64_t row = 0; row < m; row += kPanelRows) {
        pack_panel(rows + row * step, step, std::min(kPanelRows, m - row), columns, to + row * columns);
    }
}

}  // namespace headscope::cpu
