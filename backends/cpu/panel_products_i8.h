// Internal: common to the kernels of I8 weights in panels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backends/cpu/clones.h"
#include "backends/cpu/lanes.h"
#include "backends/cpu/panel_products.h"
#include "backends/cpu/rounded_rows.h"
#include "backends/cpu/weight_panels.h"

namespace headscope::cpu {

constexpr std::int32_t kExcess = 128;  // of a stored weight, so that it has no sign

// Four numbers of a row.
HEADSCOPE_INLINE std::int32_t unit_of(const std::int8_t* a) {
    std::int32_t unit = 0;
    std::memcpy(&unit, a, kUnit);
    return unit;
}

// Some rows times a panel, of which `width` columns exist.
struct I8PanelPart {
    const StoredProduct& product;
    const RoundedRows& a;
    const std::uint8_t* panel;  // [k / 4, width, 4], kExcess added
    const std::uint8_t* next;   // the panel to prefetch, or null
    std::int64_t column, width;
};

// Writes 16 columns of an output row, from `lane` on.
template <class Lanes>
HEADSCOPE_INLINE void store_sums(const I8PanelPart& p, std::int64_t row, std::int64_t lane, Lanes& sums) {
    const StoredProduct& product = p.product;
    const auto at = static_cast<std::size_t>(row);
    const std::int64_t count = std::min(kLanes, p.width - lane);
    Lanes scales;
    if (count == kLanes) {
        scales.load(product.scales + p.column + lane);
    } else {
        scales.template load<false>(product.scales + p.column + lane, std::max<std::int64_t>(count, 0));
    }
    scales *= product.alpha * p.a.scales[at];
    sums *= scales;
    store_columns(product, row, p.column + lane, count, sums);
}

// Rows [first, first + count) times a whole panel, on a processor with AVX2.
void multiply_panel_avx2(const I8PanelPart& p, std::int64_t first, std::int64_t count);

}  // namespace headscope::cpu
