#include "backends/cuda/grids.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "support/check.h"

namespace headscope::cuda {

unsigned block_count(std::int64_t count) {
    HEADSCOPE_CHECK(count >= 1 && count <= std::numeric_limits<std::int32_t>::max(),
                    fmt::format("a launch of {} blocks", count));
    return static_cast<unsigned>(count);
}

Grid item_grid(std::int64_t items) {
    constexpr std::int64_t kThreads = 256;
    return {dim3(block_count((items + kThreads - 1) / kThreads)), kThreads, 0};
}

Grid row_grid(std::int64_t rows, std::int64_t columns, int width, std::size_t own_bytes, unsigned most_threads) {
    const std::int64_t wanted = (columns + width - 1) / width;
    const std::int64_t whole = (std::max<std::int64_t>(wanted, 1) + kWarp - 1) / kWarp * kWarp;
    return {dim3(block_count(rows)), static_cast<unsigned>(std::min<std::int64_t>(whole, most_threads)),
            kReduceBytes + own_bytes};
}

Grid row_parts_grid(std::int64_t rows, std::int64_t columns, int width, int multiprocessors, int blocks_each) {
    constexpr std::int64_t kThreads = 64;
    constexpr std::int64_t kLeastRows = 32;
    const std::int64_t across = ((columns + width - 1) / width + kThreads - 1) / kThreads;
    const std::int64_t wanted = (std::int64_t{blocks_each} * multiprocessors + across - 1) / across;
    const std::int64_t parts = std::clamp<std::int64_t>(std::min(wanted, rows / kLeastRows), 1, 65535);
    return {dim3(block_count(across), static_cast<unsigned>(parts)), kThreads, 0};
}

}  // namespace headscope::cuda
