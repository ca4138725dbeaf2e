#include "backends/cpu/dropout_bits.h"

#include <bit>

#include "backends/cpu/clones.h"
#include "backends/cpu/memory/view.h"

namespace headscope::cpu {

static_assert(std::endian::native == std::endian::little, "a word's low half is the first of its two draws");

namespace {

// The draws are read as halves of these words.
using Word = std::uint32_t __attribute__((may_alias));

struct PhiloxRows {
    const std::uint32_t* column_block;
    const std::uint32_t* place;  // (head << 16) | position
    const std::uint32_t* ordinal;
    std::uint32_t site;
    PhiloxKey key;
};

// philox() of `count` counters with four words each, in multiples of 16; the same rounds as in philox.h.
HEADSCOPE_CLONES void philox_rows(const PhiloxRows& rows, std::int64_t count, Word* words) {
    constexpr std::uint32_t kMultiplier0 = 0xD2511F53U;
    constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57U;
    constexpr std::uint32_t kWeyl0 = 0x9E3779B9U;
    constexpr std::uint32_t kWeyl1 = 0xBB67AE85U;
    for (std::int64_t i = 0; i < count; ++i) {
        std::uint32_t c0 = rows.column_block[i];
        std::uint32_t c1 = rows.place[i];
        std::uint32_t c2 = rows.ordinal[i];
        std::uint32_t c3 = rows.site;
        std::uint32_t k0 = rows.key[0];
        std::uint32_t k1 = rows.key[1];
#pragma GCC unroll 10
        for (int round = 0; round < 10; ++round) {
            const std::uint64_t product0 = std::uint64_t{kMultiplier0} * c0;
            const std::uint64_t product1 = std::uint64_t{kMultiplier1} * c2;
            c0 = static_cast<std::uint32_t>(product1 >> 32U) ^ c1 ^ k0;
            c1 = static_cast<std::uint32_t>(product1);
            c2 = static_cast<std::uint32_t>(product0 >> 32U) ^ c3 ^ k1;
            c3 = static_cast<std::uint32_t>(product0);
            k0 += kWeyl0;
            k1 += kWeyl1;
        }
        words[4 * i] = c0;
        words[4 * i + 1] = c1;
        words[4 * i + 2] = c2;
        words[4 * i + 3] = c3;
    }
}

HEADSCOPE_CLONES void keep_or_zero(const RowDropout& dropout, const float* x, float* y, std::int64_t columns) {
    const std::uint16_t* bits = dropout.bits;
    const auto threshold = static_cast<std::int32_t>(dropout.threshold);
    const float scale = dropout.scale;
    for (std::int64_t c = 0; c < columns; ++c) {
        const float scaled = x[c] * scale;
        y[c] = std::int32_t{bits[c]} >= threshold ? scaled : 0.0F;
    }
}

HEADSCOPE_CLONES void add_kept(const RowDropout& dropout, const float* x, float* y, std::int64_t columns) {
    const std::uint16_t* bits = dropout.bits;
    const auto threshold = static_cast<std::int32_t>(dropout.threshold);
    const float scale = dropout.scale;
    for (std::int64_t c = 0; c < columns; ++c) {
        const float scaled = x[c] * scale;
        y[c] += std::int32_t{bits[c]} >= threshold ? scaled : 0.0F;
    }
}

HEADSCOPE_CLONES void add_row(const float* x, float* y, std::int64_t columns) {
    for (std::int64_t c = 0; c < columns; ++c) {
        y[c] += x[c];
    }
}

}  // namespace

void apply_dropout(const RowDropout& dropout, const float* x, float* y, std::int64_t columns, Write write) {
    if (dropout.bits != nullptr) {
        (write == Write::Accumulate ? add_kept : keep_or_zero)(dropout, x, y, columns);
    } else if (write == Write::Accumulate) {
        add_row(x, y, columns);
    } else if (x != y) {
        std::copy_n(x, columns, y);
    }
}

DropoutBits::DropoutBits(const DropoutRule& rule, std::int64_t heads, std::int64_t positions, std::int64_t columns,
                         std::int64_t first)
    : on_(rule.rate > 0.0F),
      heads_(heads),
      positions_(positions),
      blocks_((columns + kPerBlock - 1) / kPerBlock),
      first_block_(first / kPerBlock) {
    if (on_) {
        threshold_ = dropout_threshold(rule.rate);
        scale_ = static_cast<float>(65536.0 / (65536.0 - threshold_));
        site_ = rule.site;
        key_ = {rule.seed, static_cast<std::uint32_t>(scalar_of(rule.step, 0))};
        ordinals_ = data_of<std::int32_t>(rule.ordinals);
    }
}

DropoutBits::DropoutBits(const DropoutRule& rule, const Tensor& x)
    : DropoutBits(rule, x.rank() == 4 ? x.dim(1) : 1, x.dim(-2), x.dim(-1)) {}

std::int64_t DropoutBits::rows_at_once() const {
    constexpr std::int64_t kBlocks = 256;  // their counters and bits stay in the L1 cache
    return std::max<std::int64_t>(1, kBlocks / std::max<std::int64_t>(blocks_, 1));
}

void DropoutBits::draw(std::int64_t begin, std::int64_t end, Scratch& scratch) const {
    const std::int64_t count = (end - begin) * blocks_;
    scratch.counters.resize(static_cast<std::size_t>(3 * count));
    scratch.bits.resize(static_cast<std::size_t>(count * kPerBlock));
    std::uint32_t* column_block = scratch.counters.data();
    std::uint32_t* place = column_block + count;
    std::uint32_t* ordinal = place + count;
    std::int64_t next = 0;
    for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t head = row / positions_ % heads_;
        const auto row_place = static_cast<std::uint32_t>(head << 16U | row % positions_);
        const auto row_ordinal = static_cast<std::uint32_t>(ordinals_[row / (positions_ * heads_)]);
        for (std::int64_t block = 0; block < blocks_; ++block, ++next) {
            column_block[next] = static_cast<std::uint32_t>(first_block_ + block);
            place[next] = row_place;
            ordinal[next] = row_ordinal;
        }
    }
    philox_rows({column_block, place, ordinal, site_, key_}, count, reinterpret_cast<Word*>(scratch.bits.data()));
}

}  // namespace headscope::cpu
