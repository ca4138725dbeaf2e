// Attention under a narrow window, and its backward: the cost grows with queries * window.
#pragma once

#include "backend/ops/attention.h"
#include "backends/cpu/thread_pool.h"

namespace headscope::cpu {

void attend_in_window(ThreadPool& pool, const Attention& op);
// Computes the weights again.
void attend_in_window_backward(ThreadPool& pool, const AttentionBackward& op);

}  // namespace headscope::cpu
