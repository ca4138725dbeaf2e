// Descriptions of head edits, and which edits have no effect on a sentence.
#pragma once

#include <string>
#include <vector>

#include "explore/exploration.h"

namespace headscope {

// "Encoder layer 5, head 3: off", or "Layer 5, head 3: off" of a language model.
std::string describe(const AttentionEdit& edit, Architecture family = {});
// All edits, in order, separated by "; ".
std::string describe(const std::vector<AttentionEdit>& edits, Architecture family = {});

// The edits that change no row of the complete record: they name a token that does not exist, or pin a token to one
// that is masked.
std::vector<AttentionEdit> without_effect(const std::vector<AttentionEdit>& edits, const AttentionRecord& record);

}  // namespace headscope
