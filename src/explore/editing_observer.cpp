#include "explore/editing_observer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "autograd/functions.h"
#include "backend/backend.h"
#include "backend/ops/attention.h"
#include "backend/ops/elementwise.h"
#include "support/check.h"

namespace headscope {

namespace {

// Beside the rules of EditAttention, which leaves such rows unchanged.
constexpr std::int32_t kUnmasked = std::numeric_limits<std::int32_t>::min();

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
        case EditKind::Unmasked: return kUnmasked;
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

// Computes the weights of the rows with this rule again.
void EditingObserver::take_mask_off(Backend& backend, const AttentionView& view,
                                    const std::vector<std::int32_t>& rules) {
    const auto is_unmasked = [](std::int32_t rule) { return rule == kUnmasked; };
    if (std::ranges::none_of(rules, is_unmasked)) {
        return;
    }
    Context ctx{.backend = backend};
    AttentionMask open = view.mask;
    open.causal = false;
    const Var scores = attention_scores(ctx, Var(view.queries), Var(view.keys), {.scale = view.scale});
    const Var by_distance = view.by_distance.defined() ? Var(view.by_distance) : Var();
    const Tensor weights = masked_softmax(ctx, scores, open, by_distance).value();
    const std::int64_t queries = view.weights.dim(2);
    for (std::int64_t head = 0; head < view.weights.dim(1); ++head) {
        const auto first = rules.begin() + head * queries;
        for (auto row = first; row != first + queries;) {
            const auto from = std::find_if(row, first + queries, is_unmasked);
            row = std::find_if_not(from, first + queries, is_unmasked);
            if (from != row) {
                const auto rows_of = [&](const Tensor& all) {
                    return all.narrow(1, head, 1).narrow(2, from - first, row - from);
                };
                backend.run(Copy{.x = rows_of(weights), .out = rows_of(view.weights)});
            }
        }
    }
}

// Edited rows are constants, but for unmasked ones, which are a softmax still.
void EditingObserver::observe_gradient(Backend& backend, const AttentionView& view, const Tensor& gradient) {
    if (next_ != nullptr && next_->wants(view.site)) {
        next_->observe_gradient(backend, view, gradient);
    }
    if (edits_site(view.site)) {
        std::vector<std::int32_t> rules = rules_of(view);
        std::ranges::replace_if(
            rules, [](std::int32_t rule) { return rule != EditAttention::kKeep && rule != kUnmasked; },
            EditAttention::kOff);
        run_rules(backend, gradient, {}, rules);
    }
}

Tensor EditingObserver::observe(Backend& backend, const AttentionView& view) {
    const std::int64_t batch = view.weights.dim(0);
    const std::int64_t heads = view.weights.dim(1);
    const std::int64_t queries = view.weights.dim(2);
    if (edits_site(view.site)) {
        const std::vector<std::int32_t> rules = rules_of(view);
        take_mask_off(backend, view, rules);
        run_rules(backend, view.weights, view.mask, rules);
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
