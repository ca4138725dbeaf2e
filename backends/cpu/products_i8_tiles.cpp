// I8 products for many rows on processors with tile registers (Intel AMX), which multiply and add 16 rows of 64 numbers
// by 16 columns in one instruction, both sides signed. b's rows are read in place. The other side of a tile product
// needs four numbers of 16 rows next to each other, so a is repacked once. The sums come out by columns and are
// transposed.
#include "backends/cpu/products_i8.h"

#if defined(__x86_64__) && defined(__linux__)

#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "backends/cpu/lanes.h"
#include "backends/cpu/row_panels.h"

#define HEADSCOPE_TILES __attribute__((target("amx-tile,amx-int8,avx512f,avx512bw,avx512vl")))

namespace headscope::cpu {

namespace {

constexpr std::int64_t kTile = 16;         // rows of a tile
constexpr std::int64_t kSide = 2 * kTile;  // rows of a, and columns, multiplied at a time
static_assert(kTile == kPanelRows);

// The operand of LDTILECFG (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18).
struct alignas(kBytes) TileConfiguration {
    std::uint8_t palette = 1;
    std::uint8_t start_row = 0;
    std::uint8_t reserved[14] = {};
    std::uint16_t row_bytes[16] = {};
    std::uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfiguration) == kBytes);

// One step of the product.
struct Block {
    const std::int8_t* columns;  // 32 rows of b
    std::int64_t step;           // from each to the next
    const std::int8_t* panels;   // of a's rows: the first, and
    std::int64_t panel_step;     // the distance to the second
    const std::int8_t* next;     // the next columns, if any, to prefetch
};

HEADSCOPE_TILES void prefetch(const std::int8_t* columns, std::int64_t step) {
    for (std::int64_t column = 0; column < kSide; ++column) {
        _mm_prefetch(columns + column * step, _MM_HINT_T0);
    }
}

// sums[column][row] of `length` products each.
HEADSCOPE_TILES void multiply(const Block& block, std::int64_t length, std::int32_t* sums) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (std::int64_t x = 0; x < length; x += kBytes) {
        if (block.next != nullptr) {
            prefetch(block.next + x, block.step);
        }
        const std::int8_t* const columns = block.columns + x;
        const std::int8_t* const panel = block.panels + x * kTile;
        _tile_loadd(4, columns, block.step);
        _tile_loadd(6, panel, kBytes);
        _tile_loadd(7, panel + block.panel_step, kBytes);
        _tile_loadd(5, columns + kTile * block.step, block.step);
        _tile_dpbssd(0, 4, 6);
        _tile_dpbssd(1, 4, 7);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
    }
    constexpr std::int64_t kRowBytes = kSide * static_cast<std::int64_t>(sizeof(std::int32_t));
    _tile_stored(0, sums, kRowBytes);
    _tile_stored(1, sums + kTile, kRowBytes);
    _tile_stored(2, sums + kTile * kSide, kRowBytes);
    _tile_stored(3, sums + kTile * kSide + kTile, kRowBytes);
}

HEADSCOPE_TILES void load_configuration() {
    TileConfiguration configuration;
    std::fill_n(configuration.row_bytes, 8, static_cast<std::uint16_t>(kBytes));
    std::fill_n(configuration.rows, 8, static_cast<std::uint8_t>(kTile));
    std::atomic_signal_fence(std::memory_order_seq_cst);  // some compilers do not see that it is read
    _tile_loadconfig(&configuration);
}

// sums[column][row]
template <class Lanes>
HEADSCOPE_INLINE void turn_and_store(const OperandsI8& p, std::int64_t row, std::int64_t column, std::int64_t width,
                                     const std::int32_t* sums) {
    for (std::int64_t first = 0; first < width; first += kTile) {
        for (std::int64_t panel = 0; row + panel < std::min(p.m, row + kSide); panel += kTile) {
            Lanes block[kLanes];
            for (std::int64_t j = 0; j < kTile; ++j) {
                block[j].load(reinterpret_cast<const float*>(sums + (first + j) * kSide + panel));
            }
            transpose(block);
            std::int32_t turned[kTile][kTile];
            std::memcpy(turned, block, sizeof(turned));
            const std::int64_t rows = std::min(kTile, p.m - row - panel);
            const std::int64_t columns = std::min(kTile, width - first);
            for (std::int64_t r = 0; r < rows; ++r) {
                // A compile-time length, except at the end.
                store_sums(p, row + panel + r, column + first, columns == kTile ? kTile : columns, turned[r],
                           [](std::int64_t) { return 0; });
            }
        }
    }
}

HEADSCOPE_VECTOR_CLONES(void store_turned(const OperandsI8& p, std::int64_t row, std::int64_t column,
                                          std::int64_t width, const std::int32_t* sums),
                        { turn_and_store<Lanes>(p, row, column, width, sums); })

// Rows [column, column + 32) of b in a form that tiles can read: padded with zeros to the panels' length, since b's end
// may not be followed by memory of ours.
struct ReadableColumns {
    const std::int8_t* from;
    std::int64_t step;
};

ReadableColumns readable_columns(const OperandsI8& p, std::int64_t column, std::vector<std::int8_t>& copy) {
    const std::int8_t* const from = p.b + column * p.b_step;
    const std::int64_t end_read = (column + kSide - 1) * p.b_step + p.a_step;
    if (end_read <= (p.n - 1) * p.b_step + p.k) {
        return {from, p.b_step};
    }
    copy.assign(static_cast<std::size_t>(kSide * p.a_step), 0);
    for (std::int64_t j = 0; j < std::min(kSide, p.n - column); ++j) {
        std::memcpy(copy.data() + j * p.a_step, from + j * p.b_step, static_cast<std::size_t>(p.k));
    }
    return {copy.data(), p.a_step};
}

}  // namespace

HEADSCOPE_TILES void columns_in_tiles(const OperandsI8& p, const std::int8_t* panels, std::int64_t begin,
                                      std::int64_t end) {
    thread_local std::vector<std::int8_t> copy;
    alignas(kBytes) std::int32_t sums[kSide * kSide];
    load_configuration();
    for (std::int64_t column = begin; column < end; column += kSide) {
        const ReadableColumns b = readable_columns(p, column, copy);
        const bool more = column + kSide < end && b.from != copy.data();
        for (std::int64_t row = 0; row < p.m; row += kSide) {
            multiply({.columns = b.from,
                      .step = b.step,
                      .panels = panels + row * p.a_step,
                      .panel_step = row + kTile < p.m ? kTile * p.a_step : 0,
                      .next = more && row == 0 ? b.from + kSide * b.step : nullptr},
                     p.a_step, sums);
            store_turned(p, row, column, std::min(kSide, end - column), sums);
        }
    }
    _tile_release();
}

}  // namespace headscope::cpu

#else

#include "support/check.h"

namespace headscope::cpu {

void columns_in_tiles(const OperandsI8& /*p*/, const std::int8_t* /*panels*/, std::int64_t /*begin*/,
                      std::int64_t /*end*/) {
    HEADSCOPE_CHECK(false, "this processor has no tiles");
}

}  // namespace headscope::cpu

#endif
