// Rule: y and out are overwritten, and share no memory with an input. A sum over k is in F32, in an order that a device
// fixes by shapes: equal operands give equal bits.
#include "backend/ops/blocks.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "backend/ops/embedding.h"
#include "backends/cpu/block_codes.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/f16.h"
#include "backends/cpu/lanes.h"
#include "backends/cpu/products.h"

namespace headscope::cpu {

namespace {

constexpr std::int64_t kColumns = kLanes;  // of a task of few rows

// A weight as bytes, and its scales as F16: scale and least value of each block.
struct BlockWeight {
    const std::uint8_t* codes;
    const std::uint16_t* scales;
    std::int64_t rows, columns, blocks, row_bytes;
    int bits;

    BlockWeight(const Tensor& code_words, const Tensor& scale_words, std::int64_t of_columns)
        : codes(reinterpret_cast<const std::uint8_t*>(data_of<std::int32_t>(code_words))),
          scales(reinterpret_cast<const std::uint16_t*>(data_of<std::int32_t>(scale_words))),
          rows(code_words.dim(0)),
          columns(of_columns),
          blocks(scale_words.dim(1)),
          row_bytes(code_words.dim(1) * static_cast<std::int64_t>(sizeof(std::int32_t))),
          bits(bits_of_codes(code_words, scale_words)) {}
};

// to = scale * (the numbers of a row). `scales`: a pair of floats a block.
template <int bits>
HEADSCOPE_INLINE void widen_blocks(const std::uint8_t* codes, const float* scales, std::int64_t columns, float scale,
                                   float* to) {
    for (std::int64_t block = 0; block < blocks_of(columns); ++block) {
        Eight values[kEights];
        widen_codes<bits>(codes + block * kBlockColumns * bits / 8, values);
        for (Eight& eight : values) {
            eight = scale * (scales[2 * block] * eight + scales[2 * block + 1]);
        }
        const std::int64_t count = std::min(kBlockColumns, columns - block * kBlockColumns);
        std::memcpy(to + block * kBlockColumns, values, static_cast<std::size_t>(count) * sizeof(float));
    }
}

HEADSCOPE_CLONES void widen_row(int bits, const std::uint8_t* codes, const float* scales, std::int64_t columns,
                                float scale, float* to) {
    bits == 8 ? widen_blocks<8>(codes, scales, columns, scale, to) : widen_blocks<4>(codes, scales, columns, scale, to);
}

void widen(const BlockWeight& weight, std::int64_t row, float scale, std::vector<float>& scales, float* to) {
    scales.resize(static_cast<std::size_t>(2 * weight.blocks));
    widen_f16(weight.scales + row * 2 * weight.blocks, 2 * weight.blocks, scales.data());
    widen_row(weight.bits, weight.codes + row * weight.row_bytes, scales.data(), weight.columns, scale, to);
}

// Few rows of x in whole blocks, with zeros behind each, and the sum of each block.
struct FewRows {
    std::vector<float> x, sums;

    FewRows(const Tensor& from, std::int64_t blocks)
        : x(static_cast<std::size_t>(from.dim(0) * blocks * kBlockColumns)),
          sums(static_cast<std::size_t>(from.dim(0) * blocks)) {
        const float* row = data_of<const float>(from);
        for (std::int64_t i = 0; i < from.dim(0); ++i) {
            float* to = x.data() + i * blocks * kBlockColumns;
            std::copy_n(row + i * from.stride(0), from.dim(1), to);
            for (std::int64_t block = 0; block < blocks; ++block) {
                sums[static_cast<std::size_t>(i * blocks + block)] = sum_of(to + block * kBlockColumns);
            }
        }
    }

    static float sum_of(const float* block) {
        float sums[kLanes] = {};
        for (std::int64_t i = 0; i < kBlockColumns; ++i) {
            sums[i % kLanes] += block[i];
        }
        float sum = 0.0F;
        for (const float one : sums) {
            sum += one;
        }
        return sum;
    }
};

// The sums of sixteen outputs of some rows.
template <int rows>
struct Sums {
    Lanes lanes[rows][kLanes];
    float least[rows][kLanes];
};

// The part of output `c`: sixteen sums of products with the codes, times the scales, and one of the least values.
template <int bits, int rows>
HEADSCOPE_INLINE void add_products(const std::uint8_t* codes, const float* scales, const float* x, const float* x_sums,
                                   std::int64_t blocks, int c, Sums<rows>& to) {
    Eight low[rows] = {};
    Eight high[rows] = {};
    float least[rows] = {};
    for (std::int64_t block = 0; block < blocks; ++block) {
        Eight weight[kEights];
        widen_codes<bits>(codes + block * kBlockColumns * bits / 8, weight);
#pragma GCC unroll 4
        for (int i = 0; i < rows; ++i) {
            const float* row = x + (i * blocks + block) * kBlockColumns;
            Eight first;  // each by itself: an array of them would be copied through memory
            Eight second;
            Eight third;
            Eight fourth;
            std::memcpy(&first, row, sizeof(first));
            std::memcpy(&second, row + 8, sizeof(second));
            std::memcpy(&third, row + 16, sizeof(third));
            std::memcpy(&fourth, row + 24, sizeof(fourth));
            low[i] += scales[2 * block] * (first * weight[0] + third * weight[2]);
            high[i] += scales[2 * block] * (second * weight[1] + fourth * weight[3]);
            least[i] += scales[2 * block + 1] * x_sums[i * blocks + block];
        }
    }
    for (int i = 0; i < rows; ++i) {
        auto* lanes = reinterpret_cast<std::byte*>(&to.lanes[i][c]);
        std::memcpy(lanes, &low[i], sizeof(Eight));
        std::memcpy(lanes + sizeof(Eight), &high[i], sizeof(Eight));
        to.least[i][c] = least[i];
    }
}

// Outputs [first, first + 16) of `rows` rows from `row` on. Missing outputs repeat the last one, and are not stored.
template <int bits, int rows>
HEADSCOPE_INLINE void tile(const BlockWeight& weight, const FewRows& few, std::int64_t row, std::int64_t first,
                           const float* scales, float alpha, float* y) {
    Sums<rows> sums;
    const float* x = few.x.data() + row * weight.blocks * kBlockColumns;
    const float* x_sums = few.sums.data() + row * weight.blocks;
    const std::int64_t count = std::min(kColumns, weight.rows - first);
    for (int c = 0; c < kColumns; ++c) {
        const std::int64_t column = std::min<std::int64_t>(c, count - 1);
        add_products<bits, rows>(weight.codes + (first + column) * weight.row_bytes,
                                 scales + column * 2 * weight.blocks, x, x_sums, weight.blocks, c, sums);
    }
    for (int i = 0; i < rows; ++i) {
        Lanes totals;
        totals_of(sums.lanes[i], totals);
        float* out = y + (row + i) * weight.rows + first;
        for (std::int64_t c = 0; c < count; ++c) {
            out[c] = alpha * (totals[c] + sums.least[i][c]);
        }
    }
}

template <int bits>
HEADSCOPE_INLINE void outputs_of(const BlockWeight& weight, const FewRows& few, std::int64_t first, const float* scales,
                                 float alpha, std::int64_t rows, float* y) {
    std::int64_t row = 0;
    for (; row + 4 <= rows; row += 4) {
        tile<bits, 4>(weight, few, row, first, scales, alpha, y);
    }
    for (; row < rows; ++row) {
        tile<bits, 1>(weight, few, row, first, scales, alpha, y);
    }
}

HEADSCOPE_CLONES void sixteen_outputs(const BlockWeight& weight, const FewRows& few, std::int64_t first,
                                      const float* scales, float alpha, std::int64_t rows, float* y) {
    weight.bits == 8 ? outputs_of<8>(weight, few, first, scales, alpha, rows, y)
                     : outputs_of<4>(weight, few, first, scales, alpha, rows, y);
}

void multiply_few(ThreadPool& pool, const BlockLinear& op, const BlockWeight& weight) {
    constexpr std::int64_t kWorthAThread = 1 << 16;  // multiplications
    const FewRows few(op.x, weight.blocks);
    const std::int64_t rows = op.x.dim(0);
    float* y = data_of<float>(op.y);
    const std::int64_t each = rows * kColumns * weight.columns;
    pool.for_ranges((weight.rows + kColumns - 1) / kColumns, kWorthAThread / std::max<std::int64_t>(each, 1) + 1,
                    [&](std::int64_t begin, std::int64_t end) {
                        std::vector<float> scales(static_cast<std::size_t>(kColumns * 2 * weight.blocks));
                        for (std::int64_t first = begin * kColumns; first < std::min(end * kColumns, weight.rows);
                             first += kColumns) {
                            const std::int64_t count = std::min(kColumns, weight.rows - first);
                            widen_f16(weight.scales + first * 2 * weight.blocks, count * 2 * weight.blocks,
                                      scales.data());
                            sixteen_outputs(weight, few, first, scales.data(), op.alpha, rows, y);
                        }
                    });
}

// Some rows of the weight at a time become floats in memory that stays in the cache, and are multiplied as such.
void multiply_many(ThreadPool& pool, const BlockLinear& op, const BlockWeight& weight) {
    constexpr std::int64_t kSome = 64;
    constexpr std::int64_t kMany = 256;
    constexpr std::int64_t kSomeRows = 64;
    constexpr std::int64_t kWorthAThread = 1 << 17;  // multiplications
    const std::int64_t rows = op.x.dim(0);
    // Parts depend only on the shape, so that the bits do not depend on the number of threads.
    const std::int64_t at_once = rows <= kSomeRows ? kSome : kMany;
    const std::int64_t each = rows * at_once * weight.columns;
    pool.for_ranges(
        (weight.rows + at_once - 1) / at_once, kWorthAThread / std::max<std::int64_t>(each, 1) + 1,
        [&](std::int64_t begin, std::int64_t end) {
            std::vector<float> scales;
            std::vector<float> wide(static_cast<std::size_t>(at_once * weight.columns));
            ThreadPool alone(1);
            for (std::int64_t first = begin * at_once; first < std::min(end * at_once, weight.rows); first += at_once) {
                const std::int64_t count = std::min(at_once, weight.rows - first);
                for (std::int64_t j = 0; j < count; ++j) {
                    widen(weight, first + j, 1.0F, scales, wide.data() + j * weight.columns);
                }
                multiply(alone, Product{.a = {.data = data_of<const float>(op.x), .row_step = op.x.stride(0)},
                                        .b = {.data = wide.data(), .row_step = weight.columns},
                                        .out = data_of<float>(op.y) + first,
                                        .out_row_step = weight.rows,
                                        .m = rows,
                                        .n = count,
                                        .k = weight.columns,
                                        .transpose_b = true,
                                        .alpha = op.alpha});
            }
        });
}

}  // namespace

void CpuBackend::run(const BlockLinear& op) {
    constexpr std::int64_t kFewRows = 8;
    const BlockWeight weight(op.codes, op.scales, op.x.dim(1));
    if (weight.columns == 0 || std::endian::native == std::endian::big) {
        CpuReference<float>::run(op);
    } else if (op.x.dim(0) <= kFewRows) {
        multiply_few(pool_, op, weight);
    } else {
        multiply_many(pool_, op, weight);
    }
}

void CpuBackend::run(const BlockEmbed& op) {
    constexpr std::int64_t kWorthAThread = 16384;  // elements
    const std::int64_t columns = op.out.dim(2);
    const BlockWeight table(op.codes, op.scales, columns);
    const std::int32_t* ids = data_of<std::int32_t>(op.ids);
    const std::int64_t rows = op.out.dim(0) * op.out.dim(1);
    const auto exists = [&](std::int32_t id) { return id >= 0 && id < table.rows; };
    if ((ids != nullptr && !std::all_of(ids, ids + rows, exists)) || std::endian::native == std::endian::big) {
        CpuReference<float>::run(op);  // writes 0 for no token, and NaN for an id out of range
        return;
    }
    float* out = data_of<float>(op.out);
    pool_.for_ranges(rows, kWorthAThread / std::max<std::int64_t>(columns, 1),
                     [&](std::int64_t begin, std::int64_t end) {
                         std::vector<float> scales;
                         for (std::int64_t row = begin; row < end; ++row) {
                             widen(table, ids == nullptr ? row : ids[row], op.scale, scales, out + row * columns);
                         }
                     });
}

}  // namespace headscope::cpu
