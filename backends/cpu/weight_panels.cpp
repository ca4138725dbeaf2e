#include "backends/cpu/weight_panels.h"

#include <cstring>
#include <vector>

#include "backends/cpu/clones.h"
#include "backends/cpu/halves.h"
#include "backends/cpu/lanes.h"
#include "backends/cpu/memory/view.h"

namespace headscope::cpu {

namespace {

constexpr std::uint8_t kSign = 0x80;

// Bytes that stay together: a number, or kUnit of I8.
std::int64_t unit_bytes(DType dtype) {
    return dtype == DType::F16 || dtype == DType::BF16 ? 2 : 4;
}

// 16 x 16 units of four bytes: to[x, j] = from[j, x].
template <class Lanes>
HEADSCOPE_INLINE void transpose_block(const std::byte* from, std::int64_t from_step, std::byte* to,
                                      std::int64_t to_step) {
    Lanes block[kLanes];
    for (std::int64_t row = 0; row < kLanes; ++row) {
        block[row].load(reinterpret_cast<const float*>(from + row * from_step));
    }
    transpose(block);
    for (std::int64_t row = 0; row < kLanes; ++row) {
        block[row].store(reinterpret_cast<float*>(to + row * to_step));
    }
}

HEADSCOPE_VECTOR_CLONES(void transpose_words(const std::byte* from, std::int64_t from_step, std::byte* to,
                                             std::int64_t to_step),
                        { transpose_block<Lanes>(from, from_step, to, to_step); })

// The same for 16 rows of 32 numbers of two bytes, which are 16 pairs.
template <class Lanes>
HEADSCOPE_INLINE void transpose_pairs(const std::byte* from, std::int64_t from_step, std::byte* to,
                                      std::int64_t to_step) {
    Lanes block[kLanes];
    for (std::int64_t row = 0; row < kLanes; ++row) {
        block[row].load(reinterpret_cast<const float*>(from + row * from_step));
    }
    transpose(block);
    for (std::int64_t row = 0; row < kLanes; ++row) {
        float lanes[kLanes];
        block[row].store(lanes);
        std::uint32_t pairs[kLanes];
        std::memcpy(pairs, lanes, sizeof(pairs));
        std::uint16_t halves[2][kLanes];
        for (std::int64_t lane = 0; lane < kLanes; ++lane) {
            halves[0][lane] = static_cast<std::uint16_t>(pairs[lane]);
            halves[1][lane] = static_cast<std::uint16_t>(pairs[lane] >> 16U);
        }
        std::memcpy(to + 2 * row * to_step, halves[0], sizeof(halves[0]));
        std::memcpy(to + (2 * row + 1) * to_step, halves[1], sizeof(halves[1]));
    }
}

HEADSCOPE_VECTOR_CLONES(void transpose_halves(const std::byte* from, std::int64_t from_step, std::byte* to,
                                              std::int64_t to_step),
                        { transpose_pairs<Lanes>(from, from_step, to, to_step); })

// `width` rows of `units` units each to [units, width], or back.
template <bool pack>
void move_units(const std::byte* from, std::byte* to, std::int64_t units, std::int64_t width, std::int64_t unit,
                std::int64_t first_row, std::int64_t last_row, std::int64_t first_unit) {
    for (std::int64_t row = first_row; row < last_row; ++row) {
        for (std::int64_t x = first_unit; x < units; ++x) {
            const std::int64_t in_rows = (row * units + x) * unit;
            const std::int64_t in_panel = (x * width + row) * unit;
            std::memcpy(to + (pack ? in_panel : in_rows), from + (pack ? in_rows : in_panel),
                        static_cast<std::size_t>(unit));
        }
    }
}

void change_signs(std::byte* bytes, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        bytes[i] ^= std::byte{kSign};
    }
}

// Of panel `first` / kPanelColumns.
struct WeightPanel {
    WeightPanel(const Tensor& weight, std::int64_t first)
        : unit(unit_bytes(weight.dtype)),
          width(panel_width(weight.dim(0), first)),
          row_bytes(weight.dim(1) * static_cast<std::int64_t>(size_of(weight.dtype))),
          units(row_bytes / unit),
          at(first * row_bytes) {}
    std::int64_t unit, width, row_bytes, units, at;
};

void pack_panel(const WeightPanel& panel, bool eight_bits, const std::byte* rows, std::byte* to) {
    const bool halves = panel.unit == 2;
    const std::int64_t at_once = halves ? 2 * kLanes : kLanes;
    const std::int64_t whole_rows = panel.width / kLanes * kLanes;
    const std::int64_t whole_units = panel.units / at_once * at_once;
    for (std::int64_t row = 0; row < whole_rows; row += kLanes) {
        for (std::int64_t x = 0; x < whole_units; x += at_once) {
            const std::byte* from = rows + row * panel.row_bytes + x * panel.unit;
            std::byte* at = to + (x * panel.width + row) * panel.unit;
            if (halves) {
                transpose_halves(from, panel.row_bytes, at, panel.width * panel.unit);
            } else {
                transpose_words(from, panel.row_bytes, at, panel.width * panel.unit);
            }
        }
    }
    move_units<true>(rows, to, panel.units, panel.width, panel.unit, 0, whole_rows, whole_units);
    move_units<true>(rows, to, panel.units, panel.width, panel.unit, whole_rows, panel.width, 0);
    if (eight_bits) {
        change_signs(to, panel.width * panel.row_bytes);
    }
}

}  // namespace

bool fits_panels(const Tensor& weight) {
    return weight.rank() == 2 && weight.contiguous() && weight.elements() > 0 &&
           (weight.dtype == DType::F32 || weight.dtype == DType::F16 || weight.dtype == DType::BF16 ||
            (weight.dtype == DType::I8 && weight.dim(1) % kUnit == 0));
}

void pack_panels(ThreadPool& pool, const Tensor& weight) {
    constexpr std::int64_t kWorthAThread = 1 << 16;  // bytes
    const std::int64_t panel_bytes = kPanelColumns * WeightPanel(weight, 0).row_bytes;
    std::byte* data = first_byte(weight);
    pool.for_ranges((weight.dim(0) + kPanelColumns - 1) / kPanelColumns, kWorthAThread / panel_bytes + 1,
                    [&](std::int64_t begin, std::int64_t end) {
                        std::vector<std::byte> rows(static_cast<std::size_t>(panel_bytes));
                        for (std::int64_t index = begin; index < end; ++index) {
                            const WeightPanel panel(weight, index * kPanelColumns);
                            std::memcpy(rows.data(), data + panel.at,
                                        static_cast<std::size_t>(panel.width * panel.row_bytes));
                            pack_panel(panel, weight.dtype == DType::I8, rows.data(), data + panel.at);
                        }
                    });
}

void rows_to_panels(const Tensor& weight, const std::byte* from) {
    for (std::int64_t first = 0; first < weight.dim(0); first += kPanelColumns) {
        const WeightPanel panel(weight, first);
        pack_panel(panel, weight.dtype == DType::I8, from + panel.at, first_byte(weight) + panel.at);
    }
}

void panels_to_rows(const Tensor& weight, std::byte* to) {
    for (std::int64_t first = 0; first < weight.dim(0); first += kPanelColumns) {
        const WeightPanel panel(weight, first);
        move_units<false>(first_byte(weight) + panel.at, to + panel.at, panel.units, panel.width, panel.unit, 0,
                          panel.width, 0);
        if (weight.dtype == DType::I8) {
            change_signs(to + panel.at, panel.width * panel.row_bytes);
        }
    }
}

void row_of_panels(const Tensor& weight, std::int64_t row, float* to) {
    const std::int64_t column = row % kPanelColumns;
    const WeightPanel panel(weight, row - column);
    const std::byte* from = first_byte(weight) + panel.at + column * panel.unit;
    const std::int64_t step = panel.width * panel.unit;
    const auto each = [&](auto number, const auto& convert) {
        for (std::int64_t x = 0; x < panel.units; ++x) {
            std::memcpy(&number, from + x * step, sizeof(number));
            convert(x, number);
        }
    };
    switch (weight.dtype) {
        case DType::F32: each(0.0F, [&](std::int64_t x, float value) { to[x] = value; }); break;
        case DType::F16:
        case DType::BF16: {
            std::vector<std::uint16_t> halves(static_cast<std::size_t>(panel.units));
            each(std::uint16_t{},
                 [&](std::int64_t x, std::uint16_t value) { halves[static_cast<std::size_t>(x)] = value; });
            widen_halves(weight.dtype, halves.data(), panel.units, to);
            break;
        }
        default:
            each(std::uint32_t{}, [&](std::int64_t x, std::uint32_t unit) {
                for (std::int64_t i = 0; i < kUnit; ++i) {
                    const std::uint32_t byte = unit >> (8U * static_cast<std::uint32_t>(i)) & 0xffU;
                    to[x * kUnit + i] = static_cast<float>(static_cast<std::int32_t>(byte) - kSign);
                }
            });
    }
}

}  // namespace headscope::cpu
