// Ops at several lengths of the sentences, to show how their time grows.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/side_by_side.h"

namespace headscope::conformance {

// What depends on the length of the ops in `plan.ops` (names of ops; those of families name no op here), timed as by
// time_side_by_side() with each of these lengths for plan.work's. Sorted by op and kind of case, then by length. Error
// if nothing depends on it.
std::vector<OpSpeeds> time_by_length(const SpeedPlan& plan, const std::vector<std::int64_t>& lengths,
                                     const std::vector<Family>& families, const std::vector<Contender>& contenders);

}  // namespace headscope::conformance
