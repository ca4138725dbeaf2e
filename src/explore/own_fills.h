// What a masked language model would fill in, as the target of a request that gives none.
#pragma once

#include "explore/exploration.h"
#include "infer/loaded_model.h"

namespace headscope {

// The request with the likeliest token for each of its masks; as it is if it gives tokens, if it has no masks or is
// invalid, and for other models.
ExploreRequest with_own_fills(Backend& backend, const LoadedModel& models, Compute compute, ExploreRequest request);

}  // namespace headscope
