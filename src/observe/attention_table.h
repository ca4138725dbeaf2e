// Attention as a text table: for each query, the strongest key of each head.
#pragma once

#include <string>

#include "observe/selection.h"

namespace headscope {

// One row per chosen query (all if none is chosen), one column per active head, then the note. UTF-8, fixed width.
std::string attention_table(const SelectedAttention& content);

}  // namespace headscope
