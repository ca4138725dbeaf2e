// Charts of what heads do over many sentences.
#pragma once

#include <vector>

#include "explore/corpus_importance.h"
#include "observe/corpus_search.h"
#include "paint/sketch.h"

namespace headscope {

// For each rule how often the best head and each baseline are right: a point with its 95 % interval. A baseline's
// interval is that of its distance to the head.
Drawing draw_findings(const std::vector<CorpusFinding>& findings, const Look& look);

// Each head's worth as a grid, then the pruning curves: nats and, if measured, BLEU by the heads that are left.
Drawing draw_corpus_importance(const CorpusImportance& importance, Palette palette, const Look& look);

}  // namespace headscope
