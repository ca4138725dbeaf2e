// Scores human reference translations with a model (teacher forcing).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "eval/forced_statistics.h"
#include "infer/loaded_model.h"

namespace headscope {

struct ForcedReferences {
    ForcedStatistics statistics;
    // Skipped pairs: a side is empty, too long for the model or not UTF-8.
    std::size_t left_out = 0;
};

// Scores every source with each of its references, references[r][s], a few thousand pairs at a time. `progress` gets
// the number of finished pairs before each batch and at the end; an exception that it throws ends the work.
ForcedReferences force_references(Backend& backend, const LoadedModel& translator,
                                  const std::vector<std::string>& sources,
                                  const std::vector<std::vector<std::string>>& references,
                                  const DecodingOptions& options,
                                  const std::function<void(std::size_t pairs)>& progress = {});

}  // namespace headscope
