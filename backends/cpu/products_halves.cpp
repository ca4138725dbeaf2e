// Weights of F16 and BF16 take half the memory. Some columns at a time are widened into memory that stays in the cache,
// and multiplied as float.
#include <algorithm>
#include <vector>

#include "backends/cpu/halves.h"
#include "backends/cpu/memory/view.h"
#include "backends/cpu/products.h"

namespace headscope::cpu {

namespace {

// Columns [begin, end), at most `at_once` together.
void multiply_columns(const StoredProduct& p, std::int64_t begin, std::int64_t end, std::int64_t at_once) {
    thread_local std::vector<float> wide;  // [at_once, k]
    wide.resize(static_cast<std::size_t>(at_once * p.k));
    const auto* b = reinterpret_cast<const std::uint16_t*>(first_byte(p.b));
    ThreadPool alone(1);
    for (std::int64_t first = begin; first < end; first += at_once) {
        const std::int64_t count = std::min(at_once, end - first);
        for (std::int64_t j = 0; j < count; ++j) {
            widen_halves(p.b.dtype, b + (first + j) * p.b.stride(0), p.k, wide.data() + j * p.k);
        }
        multiply(alone, Product{.a = {.data = p.a, .row_step = p.m > 1 ? p.a_step : p.k},
                                .b = {.data = wide.data(), .row_step = p.k},
                                .out = p.out + first,
                                .out_row_step = p.m > 1 ? p.out_step : p.n,
                                .m = p.m,
                                .n = count,
                                .k = p.k,
                                .transpose_b = true,
                                .alpha = p.alpha,
                                .beta = p.beta});
    }
}

}  // namespace

void multiply_halves(ThreadPool& pool, const StoredProduct& product) {
    constexpr std::int64_t kFew = 16;  // columns at once for a few rows, for some, and for many
    constexpr std::int64_t kSome = 64;
    constexpr std::int64_t kMany = 256;
    constexpr std::int64_t kFewRows = 12;
    constexpr std::int64_t kSomeRows = 64;
    constexpr std::int64_t kWorthAThread = 1 << 17;  // multiplications
    // Parts depend only on the shape, so that the bits do not depend on the number of threads.
    const std::int64_t columns = product.m <= kFewRows ? kFew : product.m <= kSomeRows ? kSome : kMany;
    const std::int64_t parts = (product.n + columns - 1) / columns;
    const std::int64_t grain = kWorthAThread / std::max<std::int64_t>(product.m * columns * product.k, 1) + 1;
    pool.for_ranges(parts, grain, [&](std::int64_t begin, std::int64_t end) {
        multiply_columns(product, begin * columns, std::min(product.n, end * columns), columns);
    });
}

}  // namespace headscope::cpu
