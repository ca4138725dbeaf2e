#include "backends/cpu/panel_products.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "backends/cpu/clones.h"
#include "backends/cpu/halves.h"
#include "backends/cpu/lanes.h"
#include "backends/cpu/memory/view.h"
#include "backends/cpu/weight_panels.h"

namespace headscope::cpu {

namespace {

// Some rows times a panel [k, 32], of which `width` columns exist.
struct PanelPart {
    const StoredProduct& product;
    const float* panel;
    const float* next;            // the panel to prefetch, or null
    const std::uint16_t* halves;  // instead of `panel`, or null
    std::int64_t column, width;
};

// Adds columns [x, end) of `rows` rows, times `parts` vectors of the columns of `panel`, which begins at x.
template <int rows, int parts, bool fetch, class Lanes>
HEADSCOPE_INLINE void add_products(const PanelPart& p, std::int64_t row, std::int64_t x, std::int64_t end,
                                   const float* panel, Lanes (&sums)[rows * parts]) {
    const std::int64_t step = p.product.a_step;
    const float* a = p.product.a + row * step;
    const float* next = p.next;
    for (; x < end; ++x, panel += kPanelColumns) {
        Lanes b[parts];
#pragma GCC unroll 2
        for (int j = 0; j < parts; ++j) {
            b[j].load(panel + j * kLanes);
            if constexpr (fetch) {
                __builtin_prefetch(next + j * kLanes);
            }
        }
        if constexpr (fetch) {
            next += kPanelColumns;
        }
#pragma GCC unroll 8
        for (int i = 0; i < rows; ++i) {
            const float number = a[i * step + x];
#pragma GCC unroll 2
            for (int j = 0; j < parts; ++j) {
                sums[i * parts + j].add_product(number, b[j]);
            }
        }
    }
}

// The same of halves, a few columns of x at a time.
template <int rows, int parts, class Lanes>
HEADSCOPE_INLINE void add_half_products(const PanelPart& p, std::int64_t row, std::int64_t lane,
                                        Lanes (&sums)[rows * parts]) {
    constexpr std::int64_t kAtOnce = 32;
    float wide[kAtOnce * kPanelColumns];
    for (std::int64_t x = 0; x < p.product.k; x += kAtOnce) {
        const std::int64_t end = std::min(x + kAtOnce, p.product.k);
        widen_halves(p.product.b.dtype, p.halves + x * kPanelColumns, (end - x) * kPanelColumns, wide);
        add_products<rows, parts, false>(p, row, x, end, wide + lane, sums);
    }
}

template <int rows, int parts, class Lanes>
HEADSCOPE_INLINE void tile(const PanelPart& p, std::int64_t row, std::int64_t first) {
    for (std::int64_t lane = 0; lane < kPanelColumns; lane += parts * kLanes) {
        Lanes sums[rows * parts];
        set_zero(sums);
        if (p.halves != nullptr) {
            add_half_products<rows, parts>(p, row, lane, sums);
        } else if (p.next != nullptr && row == first) {
            add_products<rows, parts, true>(p, row, 0, p.product.k, p.panel + lane, sums);
        } else {
            add_products<rows, parts, false>(p, row, 0, p.product.k, p.panel + lane, sums);
        }
#pragma GCC unroll 8
        for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
            for (int j = 0; j < parts; ++j) {
                const std::int64_t column = lane + j * kLanes;
                Lanes& own = sums[i * parts + j];
                own *= p.product.alpha;
                store_columns(p.product, row + i, p.column + column, p.width - column, own);
            }
        }
    }
}

// The last rows, fewer than those of a whole tile.
template <int parts, class Lanes, int... rows>
HEADSCOPE_INLINE void last_tile(const PanelPart& p, std::int64_t row, std::int64_t first, std::int64_t count,
                                std::integer_sequence<int, rows...> /*fewer*/) {
    static_cast<void>(((count == rows + 1 && (tile<rows + 1, parts, Lanes>(p, row, first), true)) || ...));
}

template <int rows, int parts, class Lanes>
HEADSCOPE_INLINE void tiles(const PanelPart& p, std::int64_t first, std::int64_t count) {
    std::int64_t row = first;
    for (; row + rows <= first + count; row += rows) {
        tile<rows, parts, Lanes>(p, row, first);
    }
    last_tile<parts, Lanes>(p, row, first, first + count - row, std::make_integer_sequence<int, rows - 1>());
}

// With 32 registers of 16 floats the sums of eight rows and all columns stay in registers; with 16 registers of 8,
// those of six rows and half of the columns.
template <class Lanes>
HEADSCOPE_INLINE void all_tiles(const PanelPart& p, std::int64_t first, std::int64_t count) {
    if constexpr (Lanes::kManyRegisters) {
        tiles<8, 2, Lanes>(p, first, count);
    } else {
        tiles<6, 1, Lanes>(p, first, count);
    }
}

HEADSCOPE_VECTOR_CLONES(void tiles_of(const PanelPart& p, std::int64_t first, std::int64_t count),
                        { all_tiles<Lanes>(p, first, count); })

// Floats [k, 32] of the panel at `column`: in place, or in `wide`, with zeros in missing columns, where many rows meet
// them.
const float* floats_of(const StoredProduct& p, std::int64_t column, std::vector<float>& wide) {
    const std::int64_t width = panel_width(p.n, column);
    const std::byte* panel = first_byte(p.b) + column * p.k * static_cast<std::int64_t>(size_of(p.b.dtype));
    const bool halves = p.b.dtype != DType::F32;
    if (!halves && width == kPanelColumns) {
        return reinterpret_cast<const float*>(panel);
    }
    wide.resize(static_cast<std::size_t>(p.k * kPanelColumns));
    const std::int64_t rows_at_once = width == kPanelColumns ? p.k : 1;  // of the panel
    for (std::int64_t x = 0; x < p.k; x += rows_at_once) {
        float* to = wide.data() + x * kPanelColumns;
        if (halves) {
            widen_halves(p.b.dtype, reinterpret_cast<const std::uint16_t*>(panel) + x * width, rows_at_once * width,
                         to);
        } else {
            std::memcpy(to, panel + x * width * static_cast<std::int64_t>(sizeof(float)),
                        static_cast<std::size_t>(width) * sizeof(float));
        }
        std::fill(to + width, to + kPanelColumns, 0.0F);
    }
    return wide.data();
}

}  // namespace

PanelTasks::PanelTasks(const StoredProduct& product, std::int64_t bytes_of_row)
    : m_(product.m), k_(product.k), panels_((product.n + kColumns - 1) / kColumns) {
    constexpr std::int64_t kCached = 1 << 18;  // bytes of a block
    constexpr std::int64_t kTile = 8;          // rows
    rows_ = std::clamp<std::int64_t>(kCached / std::max<std::int64_t>(bytes_of_row, 1) / kTile * kTile, 4 * kTile,
                                     64 * kTile);
    blocks_ = (m_ + rows_ - 1) / rows_;
}

void multiply_panels(ThreadPool& pool, const StoredProduct& product) {
    constexpr std::int64_t kWorthAThread = 1 << 17;  // multiplications
    constexpr std::int64_t kOnce = 6;                // rows: a panel is read once or twice, and not worth a copy
    const bool floats = product.b.dtype == DType::F32;
    const auto bytes_of_row = product.k * static_cast<std::int64_t>(sizeof(float));
    PanelTasks(product, bytes_of_row)
        .share(pool, kWorthAThread, [&](std::int64_t row, std::int64_t count, std::int64_t column) {
            thread_local std::vector<float> wide;
            PanelPart part{.product = product,
                           .panel = nullptr,
                           .next = nullptr,
                           .halves = nullptr,
                           .column = column,
                           .width = panel_width(product.n, column)};
            if (!floats && count <= kOnce && part.width == kPanelColumns) {
                part.halves = reinterpret_cast<const std::uint16_t*>(first_byte(product.b)) + column * product.k;
            } else {
                part.panel = floats_of(product, column, wide);
            }
            if (floats && column + 2 * kPanelColumns <= product.n) {
                part.next = part.panel + kPanelColumns * product.k;
            }
            tiles_of(part, row, count);
        });
}

}  // namespace headscope::cpu
