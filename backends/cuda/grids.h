// Shapes of launches, as pure functions: what runs on a device can be tested without one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cuda/stream.h"

namespace headscope::cuda {

constexpr int kWarp = 32;
constexpr std::size_t kReduceBytes = kWarp * sizeof(std::uint64_t);  // of shared memory, what reductions (reduce.h) use

// `count` as a grid's first dimension, which goes to 2^31 - 1. The others end at 65,535, and are not used for what
// grows with the batch.
unsigned block_count(std::int64_t count);

// One thread for each of `items`, 256 to a block.
Grid item_grid(std::int64_t items);

// One block for each row, with a thread for each `width` columns up to `most_threads`, in whole warps. `own_bytes` of
// shared memory come on top of what reductions need.
Grid row_grid(std::int64_t rows, std::int64_t columns, int width, std::size_t own_bytes = 0,
              unsigned most_threads = 256);

// Column sums of [rows, columns] with `width` columns to a thread: blocks.y parts of the rows, as many as keep every
// multiprocessor busy, each of at least 32 rows. At least one, which is empty where there are no rows.
Grid row_parts_grid(std::int64_t rows, std::int64_t columns, int width, int multiprocessors);

}  // namespace headscope::cuda
