#include "explore/own_fills.h"

#include "explore/hooked_run.h"
#include "model/family.h"

namespace headscope {

ExploreRequest with_own_fills(Backend& backend, const LoadedModel& models, Compute compute, ExploreRequest request) {
    if (traits(models.model().config.architecture).fills_masks && !has_target(request)) {
        for (const ExploredStep& step : run_with_hooks(backend, models, compute, {.text = request}).steps) {
            request.target_tokens.push_back(step.token);
        }
    }
    return request;
}

}  // namespace headscope
