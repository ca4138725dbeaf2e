// A DropoutRule's random bits for whole rows, in 16 lanes of Philox.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/choices.h"
#include "backend/dropout_rule.h"
#include "backend/philox.h"
#include "backends/cpu/thread_pool.h"

namespace headscope::cpu {

// A row's dropout: entry c is kept iff bits[c] >= threshold, then multiplied by scale.
struct RowDropout {
    const std::uint16_t* bits = nullptr;  // null: the identity
    std::uint32_t threshold = 0;
    float scale = 1.0F;
};

// y = dropout(x), or y += dropout(x). y may be x.
void apply_dropout(const RowDropout& dropout, const float* x, float* y, std::int64_t columns, Write write);

// The rule for rows numbered over [batch, heads, positions].
class DropoutBits {
public:
    // The columns begin with `first`, a multiple of 8.
    DropoutBits(const DropoutRule& rule, std::int64_t heads, std::int64_t positions, std::int64_t columns,
                std::int64_t first = 0);
    // For x [batch, length, columns] or [batch, heads, queries, keys].
    DropoutBits(const DropoutRule& rule, const Tensor& x);

    static constexpr std::int64_t kPerBlock = 8;  // draws of 16 bits in one Philox block
    bool on() const { return on_; }

    // Calls body(row, dropout) for the rows [begin, end), in order.
    template <class Body>
    void for_rows(std::int64_t begin, std::int64_t end, Body&& body) const {
        if (!on_) {
            for (std::int64_t row = begin; row < end; ++row) {
                body(row, RowDropout{});
            }
            return;
        }
        Scratch scratch;
        const std::int64_t step = rows_at_once();
        for (std::int64_t first = begin; first < end; first += step) {
            const std::int64_t last = first + step < end ? first + step : end;
            draw(first, last, scratch);
            for (std::int64_t row = first; row < last; ++row) {
                const std::uint16_t* bits = scratch.bits.data() + (row - first) * blocks_ * kPerBlock;
                body(row, RowDropout{bits, threshold_, scale_});
            }
        }
    }

private:
    struct Scratch {
        std::vector<std::uint32_t> counters;  // column block, head and position, ordinal, as three arrays
        std::vector<std::uint16_t> bits;
    };
    std::int64_t rows_at_once() const;
    void draw(std::int64_t begin, std::int64_t end, Scratch& scratch) const;

    bool on_;
    std::int64_t heads_;
    std::int64_t positions_;
    std::int64_t blocks_;  // of a row
    std::int64_t first_block_;
    std::uint32_t threshold_ = 0;
    float scale_ = 1.0F;
    std::uint32_t site_ = 0;
    PhiloxKey key_{};
    const std::int32_t* ordinals_ = nullptr;
};

}  // namespace headscope::cpu
