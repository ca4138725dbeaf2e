// Shapes of launches: pure functions, testable without a device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cuda/stream.h"

namespace headscope::cuda {

constexpr int kWarp = 32;
constexpr std::size_t kReduceBytes = kWarp * sizeof(std::uint64_t);  // of shared memory, used by reductions (reduce.h)

// `count` as a grid's first dimension, which allows up to 2^31 - 1. The others allow 65,535, and are not used for sizes
// that grow with the batch.
unsigned block_count(std::int64_t count);

// One thread for each of `items`, 256 for each block.
Grid item_grid(std::int64_t items);

// One block for each row, with a thread for each `width` columns up to `most_threads`, in whole warps. `own_bytes` of
// shared memory are added to those of reductions.
Grid row_grid(std::int64_t rows, std::int64_t columns, int width, std::size_t own_bytes = 0,
              unsigned most_threads = 256);

// Column sums of [rows, columns] with `width` columns for each thread: blocks.y parts of the rows, so that each
// multiprocessor gets `blocks_each` blocks of 64 threads, but each part at least 32 rows. At least one part, even
// without rows.
Grid row_parts_grid(std::int64_t rows, std::int64_t columns, int width, int multiprocessors, int blocks_each = 8);

}  // namespace headscope::cuda
