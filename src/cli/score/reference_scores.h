// The probabilities of references in headscope evaluate.
#pragma once

#include <string>
#include <vector>

#include "cli/opened_engine.h"
#include "eval/force_references.h"

namespace headscope {

// Those of the references of each source, references[r][s], on all devices. `temperature`: see ForcedLimits.
ForcedReferences score_references(OpenedEngine& opened, const std::vector<std::string>& sources,
                                  const std::vector<std::vector<std::string>>& references,
                                  const DecodingOptions& options, double temperature = 1.0);

}  // namespace headscope
