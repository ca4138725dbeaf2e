// Rule: y and out are overwritten, and share no memory with an input. A sum over k is in F32, in an order that a device
// fixes by shapes: equal operands give equal bits.
#include "backend/ops/blocks.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "backend/ops/embedding.h"
#include "backends/cpu/block_products.h"
#include "backends/cpu/block_weight.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/products.h"

namespace headscope::cpu {

namespace {

// Some rows of the weight at a time become floats, and are multiplied as such: by a library even for few rows of x,
// since it need not read the weight from memory to copy it.
void multiply_many(ThreadPool& pool, const BlockLinear& op, const BlockWeight& weight) {
    constexpr std::int64_t kSome = 64;
    constexpr std::int64_t kMany = 256;
    constexpr std::int64_t kSomeRows = 64;
    constexpr std::int64_t kWorthAThread = 1 << 17;  // multiplications
    const std::int64_t rows = op.x.dim(0);
    const bool rows_apart = op.x.stride(0) >= weight.columns;
    // Parts depend only on the shape, so that the bits do not depend on the number of threads.
    const std::int64_t at_once = rows <= kSomeRows ? kSome : kMany;
    const std::int64_t each = rows * at_once * weight.columns;
    pool.for_ranges((weight.rows + at_once - 1) / at_once, kWorthAThread / std::max<std::int64_t>(each, 1) + 1,
                    [&](std::int64_t begin, std::int64_t end) {
                        BlockScales scales(weight);
                        std::vector<float> wide(static_cast<std::size_t>(at_once * weight.columns));
                        ThreadPool alone(1);
                        for (std::int64_t first = begin * at_once; first < std::min(end * at_once, weight.rows);
                             first += at_once) {
                            const std::int64_t count = std::min(at_once, weight.rows - first);
                            for (std::int64_t j = 0; j < count; ++j) {
                                widen(weight, first + j, 1.0F, scales, wide.data() + j * weight.columns);
                            }
                            const Product product{.a = {.data = data_of<const float>(op.x), .row_step = op.x.stride(0)},
                                                  .b = {.data = wide.data(), .row_step = weight.columns},
                                                  .out = data_of<float>(op.y) + first,
                                                  .out_row_step = weight.rows,
                                                  .m = rows,
                                                  .n = count,
                                                  .k = weight.columns,
                                                  .transpose_b = true,
                                                  .alpha = op.alpha};
                            rows_apart ? multiply_large(alone, product) : multiply(alone, product);
                        }
                    });
}

}  // namespace

void CpuBackend::run(const BlockLinear& op) {
    const BlockWeight weight(op.codes, op.scales, op.x.dim(1));
    if (weight.columns == 0 || std::endian::native == std::endian::big) {
        CpuReference<float>::run(op);
    } else if (op.x.dim(0) <= kFewBlockRows) {
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
                         BlockScales scales(table);
                         for (std::int64_t row = begin; row < end; ++row) {
                             widen(table, ids == nullptr ? row : ids[row], op.scale, scales, out + row * columns);
                         }
                     });
}

}  // namespace headscope::cpu
