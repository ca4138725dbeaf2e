// Edits of heads in words, and which of them a sentence has no use for.
#pragma once

#include <string>
#include <vector>

#include "explore/exploration.h"

namespace headscope {

// "Encoder layer 5, head 3: off"
std::string describe(const AttentionEdit& edit);
// All of them, in their order; empty where there are none.
std::string describe(const std::vector<AttentionEdit>& edits);

// Those of a whole record's edits that change none of its rows: they name a token that it lacks, or pin a token on one
// that it may not look at.
std::vector<AttentionEdit> without_effect(const std::vector<AttentionEdit>& edits, const AttentionRecord& record);

}  // namespace headscope
