// Head importance by ablation: how much probability an output loses without each head.
#pragma once

#include <functional>
#include <vector>

#include "explore/checked_request.h"

namespace headscope {

// All attentions of a model: encoder layers, then decoder layers.
std::vector<AttentionSite> attention_sites(const ModelConfig& config);
// The heads of all of these.
std::int64_t count_heads(const ModelConfig& config, const std::vector<AttentionSite>& sites);

// Teacher-forced. Calls `so_far` after each group of heads; it may return false to cancel. The request's edits apply
// throughout, so a head that is already off has a loss of 0.
Importance measure_importance(Backend& backend, const LoadedModel& translator, Compute compute,
                              const CheckedRequest& request,
                              const std::function<bool(const Importance& so_far)>& so_far);

}  // namespace headscope
