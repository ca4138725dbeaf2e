// Products of few rows with weights in blocks.
#pragma once

#include "backend/ops/blocks.h"
#include "backends/cpu/block_weight.h"
#include "backends/cpu/thread_pool.h"

namespace headscope::cpu {

// At most kFewBlockRows rows, of at least one column.
void multiply_few(ThreadPool& pool, const BlockLinear& op, const BlockWeight& weight);

}  // namespace headscope::cpu
