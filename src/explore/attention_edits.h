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

// Whether some tokens attend to later ones, so that a text which is written token by token differs from the same text
// read at once.
bool reads_ahead(const std::vector<AttentionEdit>& edits);

// The edits that change no row of the complete record: they name a token that does not exist, pin a token to one that
// is masked, or take the mask off where no token has weight on a later one, as where a search wrote one at a time.
std::vector<AttentionEdit> without_effect(const std::vector<AttentionEdit>& edits, const AttentionRecord& record);

}  // namespace headscope
