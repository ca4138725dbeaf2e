// A few rows times a weight in blocks, as in decoding: codes become numbers in registers. A word of codes has columns
// that are apart, so the rows of x are put into that order once, and no code has to move. A row's bits do not depend on
// the other rows.
#include "backends/cpu/block_products.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "backends/cpu/block_codes.h"
#include "backends/cpu/lanes.h"
#include "backends/cpu/memory/view.h"

namespace headscope::cpu {

namespace {

constexpr std::int64_t kColumns = 16;  // of a task

// Vectors of sums of x for each chunk: one, or one of the first and one of the last halves of its blocks.
template <int bits, int parts>
constexpr int kSums = bits == 4 ? parts : 1;

// Rows of x in the order of codes, with zeros behind them, and for each chunk the sums of what a least value belongs
// to, for each word of codes.
class FewRows {
public:
    template <int bits, int parts>
    static FewRows make(const Tensor& x, std::int64_t columns) {
        FewRows rows;
        const std::int64_t chunks = (columns + kChunkColumns<bits> - 1) / kChunkColumns<bits>;
        rows.step = chunks * kChunkColumns<bits>;
        rows.sum_step = chunks * kSums<bits, parts> * kEight;
        rows.x.resize(static_cast<std::size_t>(x.dim(0) * rows.step));
        rows.sums.resize(static_cast<std::size_t>(x.dim(0) * rows.sum_step));
        for (std::int64_t i = 0; i < x.dim(0); ++i) {
            const float* from = data_of<const float>(x) + i * x.stride(0);
            for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
                const std::int64_t first = chunk * kChunkColumns<bits>;
                put_chunk<bits, parts>(from + first, columns - first, rows.x.data() + i * rows.step + first,
                                       rows.sums.data() + i * rows.sum_step + chunk * kSums<bits, parts> * kEight);
            }
        }
        return rows;
    }

    std::vector<float> x, sums;
    std::int64_t step = 0, sum_step = 0;  // of a row

private:
    template <int bits, int parts>
    static void put_chunk(const float* from, std::int64_t count, float* to, float* sums) {
        for (int i = 0; i < kCodesInWord<bits>; ++i) {
            float* own = sums + i % kSums<bits, parts> * kEight;
            for (int word = 0; word < kEight; ++word) {
                const std::int64_t column = column_of<bits>(word, i);
                const float value = column < count ? from[column] : 0.0F;
                to[i * kEight + word] = value / excess_of<bits>(i);  // a power of 2: exact for all but the tiniest
                own[word] += value;
            }
        }
    }
};

// Where the parts of some rows in a chunk begin.
struct ChunkRows {
    const float* x;
    const float* sums;
    std::int64_t step, sum_step;
};

// to[i] += the products of code `code` of each word.
template <int bits, int code, int rows>
HEADSCOPE_INLINE void add_code(const EightInts& codes, const ChunkRows& from, Eight (&to)[rows]) {
    Eight weight;
    code_of<bits, code>(codes, weight);
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) {
        Eight x;
        load(from.x + i * from.step + code * kEight, x);
        to[i] += weight * x;
    }
}

template <int bits, int rows, int... code>
HEADSCOPE_INLINE void add_codes(const EightInts& codes, const ChunkRows& from, Eight (&even)[rows], Eight (&odd)[rows],
                                std::integer_sequence<int, code...> /*codes*/) {
    (add_code<bits, code, rows>(codes, from, code % 2 == 0 ? even : odd), ...);
}

// What belongs to each word of a chunk: the scales of its codes with even and with odd numbers, and their least values.
struct ChunkScales {
    Eight even, odd, even_least, odd_least;
};

// `from`: of the chunk's first block. Even codes of 4 bits are of the first half of a block, odd ones of the last.
template <int bits, int parts>
HEADSCOPE_INLINE void spread(const float* from, ChunkScales& to) {
    if constexpr (bits == 4 && parts == 2) {
        four_of_each<8, 0, 4>(from, to.even);
        four_of_each<8, 1, 5>(from, to.odd);
        four_of_each<8, 2, 6>(from, to.even_least);
        four_of_each<8, 3, 7>(from, to.odd_least);
    } else if constexpr (bits == 8 && parts == 1) {
        four_of_each<2, 0, 0>(from, to.even);
        four_of_each<2, 1, 1>(from, to.even_least);
    } else {
        constexpr int kSecond = bits == 4 ? 2 : 1;  // a second block, or the last half of the block
        constexpr int kLeast = bits == 4 ? 1 : 2;
        four_of_each<4, 0, kSecond>(from, to.even);
        four_of_each<4, kLeast, 3>(from, to.even_least);
    }
}

template <int bits, int parts, int rows>
HEADSCOPE_INLINE void add_chunk(const EightInts& codes, const float* scales, const ChunkRows& from, Eight (&to)[rows]) {
    Eight even[rows] = {};  // two sums for each row, to hide latency
    Eight odd[rows] = {};
    add_codes<bits, rows>(codes, from, even, odd, std::make_integer_sequence<int, kCodesInWord<bits>>());
    ChunkScales by;
    spread<bits, parts>(scales, by);
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) {
        Eight sum;
        load(from.sums + i * from.sum_step, sum);
        to[i] += by.even_least * sum;
        if constexpr (kSums<bits, parts> == 2) {
            load(from.sums + i * from.sum_step + kEight, sum);
            to[i] += by.odd_least * sum;
            to[i] += by.even * even[i];
            to[i] += by.odd * odd[i];
        } else {
            to[i] += by.even * (even[i] + odd[i]);
        }
    }
}

// The eight parts of an output for each of some rows.
template <int bits, int parts, int rows>
HEADSCOPE_INLINE void add_products(const std::uint8_t* codes, const float* scales, const BlockWeight& weight,
                                   ChunkRows from, Eight (&to)[rows]) {
    constexpr std::int64_t kScales = 2 * parts * (bits == 4 ? 2 : 1);  // of a chunk
    std::int64_t left = weight.row_bytes;
    for (; left >= kChunkBytes; left -= kChunkBytes) {
        EightInts words;
        std::memcpy(&words, codes, sizeof(words));
        add_chunk<bits, parts, rows>(words, scales, from, to);
        codes += kChunkBytes;
        scales += kScales;
        from.x += kChunkColumns<bits>;
        from.sums += kSums<bits, parts> * kEight;
    }
    if (bits == 4 && left > 0) {  // one block
        EightInts words = {};
        std::memcpy(&words, codes, static_cast<std::size_t>(kChunkBytes / 2));
        float own_scales[kScales] = {};
        std::copy_n(scales, kScales / 2, own_scales);
        add_chunk<bits, parts, rows>(words, own_scales, from, to);
    }
}

// Outputs [first, first + 16) of `rows` rows from `row` on. Missing outputs repeat the last one, and are not stored.
template <int bits, int parts, int rows>
HEADSCOPE_INLINE void tile(const BlockWeight& weight, const FewRows& few, std::int64_t row, std::int64_t first,
                           const BlockScales& scales, float alpha, float* y) {
    const ChunkRows from{few.x.data() + row * few.step, few.sums.data() + row * few.sum_step, few.step, few.sum_step};
    const std::int64_t count = std::min(kColumns, weight.rows - first);
    for (std::int64_t part = 0; part < count; part += kEight) {
        Eight sums[rows][kEight];
        for (int c = 0; c < kEight; ++c) {
            const std::int64_t column = std::min(part + c, count - 1);
            Eight own[rows] = {};
            add_products<bits, parts, rows>(weight.codes + (first + column) * weight.row_bytes, scales.row(column),
                                            weight, from, own);
            for (int i = 0; i < rows; ++i) {
                sums[i][c] = own[i];
            }
        }
        for (int i = 0; i < rows; ++i) {
            Eight totals;
            totals_of(sums[i], totals);
            totals *= alpha;
            std::memcpy(y + (row + i) * weight.rows + first + part, &totals,
                        static_cast<std::size_t>(std::min<std::int64_t>(kEight, count - part)) * sizeof(float));
        }
    }
}

// The same of every row.
template <int bits, int parts>
HEADSCOPE_INLINE void outputs_of(const BlockWeight& weight, const FewRows& few, std::int64_t first,
                                 const BlockScales& scales, float alpha, std::int64_t rows, float* y) {
    std::int64_t row = 0;
    for (; row + 4 <= rows; row += 4) {
        tile<bits, parts, 4>(weight, few, row, first, scales, alpha, y);
    }
    for (; row < rows; ++row) {
        tile<bits, parts, 1>(weight, few, row, first, scales, alpha, y);
    }
}

HEADSCOPE_CLONES void sixteen_outputs(const BlockWeight& weight, const FewRows& few, std::int64_t first,
                                      const BlockScales& scales, float alpha, std::int64_t rows, float* y) {
    if (weight.form.factors) {
        weight.form.bits == 8 ? outputs_of<8, 2>(weight, few, first, scales, alpha, rows, y)
                              : outputs_of<4, 2>(weight, few, first, scales, alpha, rows, y);
    } else {
        weight.form.bits == 8 ? outputs_of<8, 1>(weight, few, first, scales, alpha, rows, y)
                              : outputs_of<4, 1>(weight, few, first, scales, alpha, rows, y);
    }
}

FewRows few_rows_of(const Tensor& x, const BlockWeight& weight) {
    if (weight.form.bits == 8) {
        return FewRows::make<8, 1>(x, weight.columns);
    }
    return weight.form.factors ? FewRows::make<4, 2>(x, weight.columns) : FewRows::make<4, 1>(x, weight.columns);
}

}  // namespace

void multiply_few(ThreadPool& pool, const BlockLinear& op, const BlockWeight& weight) {
    constexpr std::int64_t kWorthAThread = 1 << 16;  // multiplications
    const FewRows few = few_rows_of(op.x, weight);
    const std::int64_t rows = op.x.dim(0);
    float* y = data_of<float>(op.y);
    const std::int64_t each = rows * kColumns * weight.columns;
    pool.for_ranges((weight.rows + kColumns - 1) / kColumns, kWorthAThread / std::max<std::int64_t>(each, 1) + 1,
                    [&](std::int64_t begin, std::int64_t end) {
                        BlockScales scales(weight);
                        for (std::int64_t first = begin * kColumns; first < std::min(end * kColumns, weight.rows);
                             first += kColumns) {
                            scales.read(first, std::min(kColumns, weight.rows - first));
                            sixteen_outputs(weight, few, first, scales, op.alpha, rows, y);
                        }
                    });
}

}  // namespace headscope::cpu
