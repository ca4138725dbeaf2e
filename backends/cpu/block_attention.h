// Attention of blocks of queries, and its backward: under a narrow window the cost grows with queries * window, and a
// thread never has more weights than those of a block.
#pragma once

#include "backend/ops_fwd.h"
#include "backends/cpu/thread_pool.h"

namespace headscope::cpu {

void attend_in_blocks(ThreadPool& pool, const Attention& op);
// Computes the weights again.
void attend_in_blocks_backward(ThreadPool& pool, const AttentionBackward& op);

}  // namespace headscope::cpu
