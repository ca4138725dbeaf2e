// Attention as text: for each query, which key each head looks at most.
#pragma once

#include <string>

#include "observe/selection.h"

namespace headscope {

// Every chosen query (none chosen: every query) a row, every active head a column, the note last. UTF-8, fixed width.
std::string attention_table(const AttentionRecord& record, const AttentionSelection& selection);

}  // namespace headscope
