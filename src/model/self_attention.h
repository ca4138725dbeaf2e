// Multi-head attention in which a sequence attends to itself: the mixer of the paper's layers. Restricted (section 4),
// each position attends only to those that are less than `mixer.window` away.
#pragma once

#include "model/attention.h"
#include "model/mixer.h"

namespace headscope {

class SelfAttention final : public Mixer {
public:
    SelfAttention(const ModelConfig& config, const Scope& scope, AttentionSite site, DropoutSites& sites);

    Var operator()(Context& ctx, const Var& x, const MixerInputs& inputs) const override;
    CachePlan cache_plan() const override { return plan_; }
    Var append(Context& ctx, const Cache& cache, const Cache::Layer& cached, const Var& x,
               const MixerInputs& inputs) const override;

private:
    MultiHeadAttention attention_;
    CachePlan plan_;
    std::int64_t window_;  // 0: reads all positions
};

}  // namespace headscope
