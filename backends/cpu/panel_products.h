// Products of weights in panels (weight_panels.h), for any number of rows. A row's bits depend neither on the other
// rows nor on the number of threads: sums over k are in order.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/clones.h"
#include "backends/cpu/lanes.h"
#include "backends/cpu/products.h"

namespace headscope::cpu {

// F32, F16 and BF16.
void multiply_panels(ThreadPool& pool, const StoredProduct& product);
// I8: rows of a are rounded to I8 first. The bits are those of multiply_i8().
void multiply_panels_i8(ThreadPool& pool, const StoredProduct& product, IntegerWay best = IntegerWay::Tiles);

// How a product is shared: blocks of rows that stay in the processor's cache while the panels pass.
class PanelTasks {
public:
    PanelTasks(const StoredProduct& product, std::int64_t bytes_of_row);

    // Calls body(first row, number of rows, first column) for each block and panel, on threads.
    template <class Body>
    void share(ThreadPool& pool, std::int64_t worth_a_thread, const Body& body) const {
        const std::int64_t each = std::max<std::int64_t>(std::min(rows_, m_) * kColumns * k_, 1);
        pool.for_ranges(blocks_ * panels_, worth_a_thread / each + 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t task = begin; task < end; ++task) {
                const std::int64_t row = task / panels_ * rows_;
                body(row, std::min(rows_, m_ - row), task % panels_ * kColumns);
            }
        });
    }

private:
    static constexpr std::int64_t kColumns = Tensor::kPanelRows;
    std::int64_t m_, k_, rows_, blocks_, panels_;
};

// Writes the first `count` of 16 columns of an output row, from their sums, which are scaled already.
template <bool whole, class Lanes>
HEADSCOPE_INLINE void store_columns_of(const StoredProduct& product, std::int64_t row, std::int64_t column,
                                       std::int64_t count, Lanes& sums) {
    float* out = product.out + row * product.out_step + column;
    if (product.beta != 0.0F) {
        Lanes before;
        before.template load<whole>(out, count);
        sums.add_product(product.beta, before);
    }
    if (product.bias != nullptr) {
        Lanes bias;
        bias.template load<whole>(product.bias + column, count);
        sums += bias;
    }
    if (product.relu) {
        sums.take_away_negative();
    }
    sums.template store<whole>(out, count);
}

template <class Lanes>
HEADSCOPE_INLINE void store_columns(const StoredProduct& product, std::int64_t row, std::int64_t column,
                                    std::int64_t count, Lanes& sums) {
    if (count >= kLanes) {
        store_columns_of<true>(product, row, column, kLanes, sums);
    } else if (count > 0) {
        store_columns_of<false>(product, row, column, count, sums);
    }
}

}  // namespace headscope::cpu
