// Applies head edits to the attention weights on the device.
#pragma once

#include <cstdint>
#include <vector>

#include "autograd/context.h"
#include "explore/exploration.h"

namespace headscope {

// Can be chained before another observer, which then sees the edited weights.
class EditingObserver final : public AttentionObserver {
public:
    // `source_length`: tokens that the encoder reads, without pads. `next` may be null.
    EditingObserver(std::vector<AttentionEdit> edits, std::int64_t source_length, AttentionObserver* next);

    // First target token of the next pass of cross-attention: 0 for a teacher-forced pass, else the step number.
    void set_first_query(std::int64_t query) { first_query_ = query; }
    // In the next passes, also switches off head heads[b] (from 1) of this site for sentence b of the batch.
    void switch_off(const AttentionSite& site, std::vector<int> heads);

    bool wants(const AttentionSite& site) const override;
    Tensor observe(Backend& backend, const AttentionView& view) override;
    void observe_gradient(Backend& backend, const AttentionView& view, const Tensor& gradient) override;

private:
    bool edits_site(const AttentionSite& site) const;
    std::vector<std::int32_t> rules_of(const AttentionView& view) const;
    static void take_mask_off(Backend& backend, const AttentionView& view, const std::vector<std::int32_t>& rules);
    std::int32_t rule_of(const AttentionEdit& edit, std::int64_t query) const;

    std::vector<AttentionEdit> edits_;
    std::int64_t source_length_;
    AttentionObserver* next_;
    std::int64_t first_query_ = 0;
    AttentionSite off_site_;
    std::vector<int> off_heads_;
};

}  // namespace headscope
