#include "backends/cpu/rounded_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "backend/quantisation.h"
#include "backends/cpu/clones.h"

namespace headscope::cpu {

namespace {

// Without their sign, floats are ordered like their bits; infinity and NaN come last.
HEADSCOPE_CLONES float largest_magnitude(const float* x, std::int64_t count) {
    std::int32_t largest = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        largest = std::max(largest, std::bit_cast<std::int32_t>(x[i]) & 0x7fffffff);
    }
    return std::bit_cast<float>(largest);
}

// Returns the sum of what it writes. Like quantised().
HEADSCOPE_CLONES std::int32_t quantise(const float* x, std::int64_t count, float inverse, std::int8_t* to) {
    std::int32_t sum = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto whole = static_cast<std::int32_t>(std::nearbyint(x[i] * inverse));
        to[i] = static_cast<std::int8_t>(whole);
        sum += whole;
    }
    return sum;
}

}  // namespace

void round_rows(ThreadPool& pool, const StoredProduct& p, RoundedRows& to) {
    constexpr std::int64_t kWorthAThread = 1 << 15;  // elements
    to.step = (p.k + RoundedRows::kPadding - 1) / RoundedRows::kPadding * RoundedRows::kPadding;
    to.values.resize(static_cast<std::size_t>(p.m * to.step));
    to.scales.resize(static_cast<std::size_t>(p.m));
    to.sums.resize(static_cast<std::size_t>(p.m));
    pool.for_ranges(p.m, kWorthAThread / std::max<std::int64_t>(p.k, 1) + 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            const auto at = static_cast<std::size_t>(row);
            const float* from = p.a + row * p.a_step;
            std::int8_t* values = to.values.data() + row * to.step;
            const float largest = largest_magnitude(from, p.k);
            const bool finite = std::isfinite(largest);
            const RowScale scale = finite ? row_scale(largest) : RowScale{std::numeric_limits<float>::quiet_NaN(), 0};
            to.sums[at] = finite ? quantise(from, p.k, scale.inverse, values) : 0;
            to.scales[at] = scale.scale;
            std::fill(values + (finite ? p.k : 0), values + to.step, std::int8_t{0});
        }
    });
}

}  // namespace headscope::cpu
