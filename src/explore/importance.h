// Which heads a translation needs: each is left out once, and the translation loses probability or does not.
#pragma once

#include <functional>

#include "explore/exploration.h"
#include "infer/translator.h"
#include "observe/recorded_text.h"

namespace headscope {

// Teacher-forced. `so_far` is told after each group of heads and may return false, which stops. Edits of the request
// hold throughout, so a head that is off already loses nothing.
Importance measure_importance(Backend& backend, const Translator& translator, Compute compute,
                              const std::vector<AttentionEdit>& edits, const RecordedText& source,
                              const RecordedText& target, const std::function<bool(const Importance& so_far)>& so_far);

}  // namespace headscope
