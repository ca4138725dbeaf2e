#include "explore/editing_observer.h"

#include <algorithm>
#include <utility>

#include "backend/backend.h"
#include "backend/ops/attention.h"
#include "support/check.h"

namespace headscope {

namespace {

void run_rules(Backend& backend, const Tensor& weights, const AttentionMask& mask,
               const std::vector<std::int32_t>& rules) {
    const Tensor on_device = make_from_host<std::int32_t>(backend, {weights.dim(1), weights.dim(2)}, DType::I32, rules);
    backend.run(EditAttention{.weights = weights, .rules = on_device, .out = weights, .mask = mask});
}

}  // namespace

EditingObserver::EditingObserver(std::vector<AttentionEdit> edits, std::int64_t source_length, AttentionObserver* next)
    : edits_(std::move(edits)), source_length_(source_length), next_(next) {}

void EditingObserver::switch_off(const AttentionSite& site, std::vector<int> heads) {
    off_site_ = site;
    off_heads_ = std::move(heads);
}

bool EditingObserver::edits_site(const AttentionSite& site) const {
    return std::any_of(edits_.begin(), edits_.end(), [&](const AttentionEdit& edit) { return edit.site == site; });
}

bool EditingObserver::wants(const AttentionSite& site) const {
    return edits_site(site) || (!off_heads_.empty() && off_site_ == site) || (next_ != nullptr && next_->wants(site));
}

// The EditAttention rule of this edit for one row.
std::int32_t EditingObserver::rule_of(const AttentionEdit& edit, std::int64_t query) const {
    switch (edit.kind) {
        case EditKind::Off: return EditAttention::kOff;
        case EditKind::Uniform: return EditAttention::kUniform;
        case EditKind::Pin: break;
    }
    // Tokens after this one are masked, also when the whole target is read at once.
    const std::int64_t keys = edit.site.kind == AttentionKind::DecoderSelf ? query + 1 : source_length_;
    return edit.key >= 0 && edit.key < keys ? edit.key : EditAttention::kKeep;
}

// [heads, queries]
std::vector<std::int32_t> EditingObserver::rules_of(const AttentionView& view) const {
    const std::int64_t heads = view.weights.dim(1);
    const std::int64_t queries = view.weights.dim(2);
    std::vector<std::int32_t> rules(static_cast<std::size_t>(heads * queries), EditAttention::kKeep);
    // With an observer, self-attention sees exactly the tokens so far, of which the queries are the last.
    const std::int64_t first = view.site.kind == AttentionKind::Cross ? first_query_ : view.weights.dim(3) - queries;
    for (const AttentionEdit& edit : edits_) {
        if (!(edit.site == view.site)) {
            continue;
        }
        for (std::int64_t i = 0; i < queries; ++i) {
            if (edit.query < 0 || edit.query == first + i) {
                const std::int32_t rule = rule_of(edit, first + i);
                auto& stored = rules[static_cast<std::size_t>((edit.head - 1) * queries + i)];
                stored = rule == EditAttention::kKeep ? stored : rule;
            }
        }
    }
    return rules;
}

// Edited rows are constants.
void EditingObserver::observe_gradient(Backend& backend, const AttentionView& view, const Tensor& gradient) {
    if (next_ != nullptr && next_->wants(view.site)) {
        next_->observe_gradient(backend, view, gradient);
    }
    if (edits_site(view.site)) {
        std::vector<std::int32_t> rules = rules_of(view);
        std::ranges::replace_if(
            rules, [](std::int32_t rule) { return rule != EditAttention::kKeep; }, EditAttention::kOff);
        run_rules(backend, gradient, {}, rules);
    }
}

Tensor EditingObserver::observe(Backend& backend, const AttentionView& view) {
    const std::int64_t batch = view.weights.dim(0);
    const std::int64_t heads = view.weights.dim(1);
    const std::int64_t queries = view.weights.dim(2);
    if (edits_site(view.site)) {
        run_rules(backend, view.weights, view.mask, rules_of(view));
    }
    if (!off_heads_.empty() && off_site_ == view.site) {
        HEADSCOPE_CHECK(static_cast<std::int64_t>(off_heads_.size()) == batch, "one head off per sentence");
        std::vector<std::int32_t> rules(static_cast<std::size_t>(heads * queries), EditAttention::kKeep);
        for (std::int64_t b = 0; b < batch; ++b) {
            const auto row = rules.begin() + (off_heads_[static_cast<std::size_t>(b)] - 1) * queries;
            std::fill(row, row + queries, EditAttention::kOff);
            // Off reads no key, so the mask does not matter.
            run_rules(backend, view.weights.narrow(0, b, 1), {}, rules);
            std::fill(row, row + queries, EditAttention::kKeep);
        }
    }
    return next_ != nullptr && next_->wants(view.site) ? next_->observe(backend, view) : view.weights;
}

}  // namespace headscope
