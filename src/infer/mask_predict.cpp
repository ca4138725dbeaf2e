#include "infer/mask_predict.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "backend/ops/search.h"
#include "data/device_batch.h"
#include "support/check.h"

namespace headscope {

namespace {

// One candidate for a translation.
struct Draft {
    std::vector<std::int32_t> tokens;
    std::vector<double> log_probabilities;  // of each token when it was last predicted; the last one of the length

    double sum() const { return std::accumulate(log_probabilities.begin(), log_probabilities.end(), 0.0); }
    double mean() const { return sum() / static_cast<double>(log_probabilities.size()); }
    bool usable() const { return std::isfinite(sum()); }
};

// Drafts of masks, of the likeliest lengths from `least` to `most`, best first; of equal ones the shorter. `logits` are
// those of length 0 on. If there are fewer than `count`, the best one repeatedly.
std::vector<Draft> likeliest_lengths(std::span<const double> logits, std::int64_t least, std::int64_t most, int count,
                                     std::int32_t mask) {
    const double largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0.0;
    for (const double logit : logits) {
        sum += std::exp(logit - largest);
    }
    std::vector<std::pair<double, std::int64_t>> ranked;  // log-probability, length
    for (std::int64_t length = least; length <= most; ++length) {
        const double one = logits[static_cast<std::size_t>(length)] - largest - std::log(sum);
        ranked.emplace_back(std::isfinite(one) ? one : -std::numeric_limits<double>::infinity(), length);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    ranked.resize(static_cast<std::size_t>(count), ranked.front());
    std::vector<Draft> drafts;
    for (const auto& [log_probability, length] : ranked) {
        const auto size = static_cast<std::size_t>(length);
        drafts.push_back({std::vector(size, mask), std::vector(size + 1, 0.0)});
        drafts.back().log_probabilities.back() = log_probability;
    }
    return drafts;
}

}  // namespace

// The drafts of some sources, a fixed number of each, side by side.
class MaskPredictSearch::Drafts {
public:
    Drafts(Context& ctx, const MaskPredict& model, const std::vector<const SearchOptions*>& options,
           const DeviceBatch& batch, const std::vector<SearchTask>& tasks)
        : ctx_(ctx), model_(model), each_(static_cast<std::size_t>(options.front()->length_candidates)) {
        const ModelConfig& config = model.config();
        for (const SearchOptions* own : options) {
            never_.push_back(token_rules(config, *own).forbidden);
            never_.back().insert(never_.back().end(), {config.frame.eos_id, config.frame.mask_id});
        }
        const Var memory = model.encode(ctx, batch);
        const auto scores = to_host<double>(ctx.backend, model.length_logits(ctx, batch, memory));
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            const std::int64_t most = std::max<std::int64_t>(std::min(tasks[i].limit, config.max_length) - 1, 0);
            const std::int64_t least = std::clamp<std::int64_t>(options[i]->min_length, 0, most);
            const auto classes = static_cast<std::size_t>(config.max_length);
            for (Draft& draft : likeliest_lengths(std::span(scores).subspan(i * classes, classes), least, most,
                                                  options[i]->length_candidates, config.frame.mask_id)) {
                longest_ = std::max(longest_, std::ssize(draft.tokens));
                drafts_.push_back(std::move(draft));
            }
        }
        longest_ = Padding{.longest = config.max_length}.of(longest_);
        cache_ = model.start(ctx, batch, memory, std::ssize(drafts_));
        lengths_ = upload({std::ssize(drafts_)}, lengths());
    }

    // Masks the least certain pieces of each draft and predicts them again, unless its source is done. False if there
    // are none.
    bool refine(int number, int iterations, const std::vector<bool>& done) {
        masked_.clear();
        for (std::size_t row = 0; row < drafts_.size(); ++row) {
            if (!done[row / each_]) {
                mask(row, masked_pieces(std::ssize(drafts_[row].tokens), number, iterations));
            }
        }
        if (masked_.empty()) {
            return false;
        }
        std::vector<std::int32_t> ids;
        for (const Draft& draft : drafts_) {
            ids.insert(ids.end(), draft.tokens.begin(), draft.tokens.end());
            ids.resize(ids.size() + static_cast<std::size_t>(longest_ - std::ssize(draft.tokens)),
                       padding_id(model_.config()));
        }
        const Var states = model_.read(ctx_, cache_, upload({std::ssize(drafts_), longest_}, ids), lengths_);
        for (std::size_t first = 0; first < masked_.size(); first += kRows) {
            predict(states.value(), first, std::min(kRows, masked_.size() - first));
        }
        return true;
    }

    std::int64_t tokens() const { return std::ssize(drafts_) * longest_; }
    const Draft& best_of(std::size_t source) const {
        const auto first = drafts_.begin() + static_cast<std::ptrdiff_t>(source * each_);
        return *std::max_element(first, first + static_cast<std::ptrdiff_t>(each_), [](const Draft& a, const Draft& b) {
            return a.usable() != b.usable() ? b.usable() : a.mean() < b.mean();
        });
    }

private:
    static constexpr std::size_t kRows = 1024;  // of logits computed at a time, to bound memory

    Tensor upload(const Shape& shape, const std::vector<std::int32_t>& values) const {
        return make_from_host<std::int32_t>(ctx_.backend, shape, DType::I32, values);
    }

    std::vector<std::int32_t> lengths() const {
        std::vector<std::int32_t> lengths;
        for (const Draft& draft : drafts_) {
            lengths.push_back(static_cast<std::int32_t>(draft.tokens.size()));
        }
        return lengths;
    }

    // Of equally certain pieces the first.
    void mask(std::size_t row, std::int64_t count) {
        Draft& draft = drafts_[row];
        std::vector<std::size_t> order(draft.tokens.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return draft.log_probabilities[a] < draft.log_probabilities[b];
        });
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
            draft.tokens[order[i]] = model_.config().frame.mask_id;
            masked_.push_back(static_cast<std::int32_t>(row * static_cast<std::size_t>(longest_) + order[i]));
        }
    }

    // states [rows, length, d_model]; those of masks [first, first + count).
    void predict(const Tensor& states, std::size_t first, std::size_t count) {
        const ModelConfig& config = model_.config();
        const auto rows = static_cast<std::int64_t>(count);
        const std::vector<std::int32_t> places(masked_.begin() + static_cast<std::ptrdiff_t>(first),
                                               masked_.begin() + static_cast<std::ptrdiff_t>(first + count));
        const Tensor chosen = ctx_.backend.empty({rows, config.d_model}, states.dtype);
        ctx_.backend.run(GatherRows{.x = states.reshape({std::ssize(drafts_) * longest_, config.d_model}),
                                    .index = upload({rows}, places),
                                    .out = chosen});
        const Tensor logits = model_.logits(ctx_, Var(chosen.reshape({1, rows, config.d_model}))).value();
        const auto longest = std::ranges::max(never_, {}, &std::vector<std::int32_t>::size).size();
        const auto most = std::min(static_cast<std::int64_t>(longest) + 1, config.target_vocabulary);
        const Tensor values = ctx_.backend.empty({rows, most}, ctx_.backend.full_dtype());
        const Tensor tokens = ctx_.backend.empty({rows, most}, DType::I32);
        ctx_.backend.run(LogSoftmaxTopK{
            .logits = logits.reshape({rows, config.target_vocabulary}), .values = values, .indices = tokens});
        const auto log_probabilities = to_host<double>(ctx_.backend, values);
        const auto found = to_host<std::int32_t>(ctx_.backend, tokens);
        for (std::size_t i = 0; i < count; ++i) {
            const auto begin = found.begin() + static_cast<std::ptrdiff_t>(i) * most;
            const auto row = static_cast<std::size_t>(places[i] / longest_);
            const std::vector<std::int32_t>& never = never_[row / each_];
            const auto likeliest = std::find_if(begin, begin + most, [&](std::int32_t token) {
                return std::find(never.begin(), never.end(), token) == never.end();
            });
            const bool found_one = likeliest != begin + most;
            const double p = found_one ? log_probabilities[static_cast<std::size_t>(likeliest - found.begin())] : 0.0;
            const bool usable = found_one && std::isfinite(p);  // NaN has no place in an order
            Draft& draft = drafts_[row];
            const auto at = static_cast<std::size_t>(places[i] % longest_);
            draft.tokens[at] = usable ? *likeliest : config.frame.mask_id;
            draft.log_probabilities[at] = usable ? p : -std::numeric_limits<double>::infinity();
        }
    }

    Context& ctx_;
    const MaskPredict& model_;
    std::size_t each_;
    std::vector<std::vector<std::int32_t>> never_;  // pieces that no text of each source contains
    std::vector<Draft> drafts_;
    std::int64_t longest_ = 0;  // padded
    Cache cache_;
    Tensor lengths_;                    // I32 [drafts]
    std::vector<std::int32_t> masked_;  // positions in [drafts * longest_]
};

namespace {

Hypothesis hypothesis_of(const Draft& draft, std::int32_t eos) {
    if (!draft.usable()) {
        return {.tokens = {}, .end = EndReason::Unusable};
    }
    Hypothesis found{.tokens = draft.tokens,
                     .log_probability = draft.sum(),
                     .score = draft.mean(),
                     .token_log_probabilities = draft.log_probabilities};
    found.tokens.push_back(eos);
    return found;
}

}  // namespace

std::int64_t masked_pieces(std::int64_t pieces, int number, int iterations) {
    return pieces * (iterations - number) / iterations;
}

MaskPredictSearch::MaskPredictSearch(Context& ctx, const MaskPredict& model,
                                     const std::vector<std::vector<std::int32_t>>& sources,
                                     const std::vector<SearchTask>& tasks,
                                     const std::vector<const SearchOptions*>& options)
    : iterations_(options.front()->iterations), eos_(model.config().frame.eos_id), stopped_(tasks.size(), false) {
    HEADSCOPE_CHECK(sources.size() == tasks.size() && options.size() == tasks.size(),
                    "each source has a task and options");
    const ModelConfig& config = model.config();
    const Batch host = make_source_batch(sources, padding_id(config), {.longest = config.max_length});
    drafts_ = std::make_unique<Drafts>(ctx, model, options, upload(ctx.backend, host), tasks);
}

MaskPredictSearch::~MaskPredictSearch() = default;

bool MaskPredictSearch::step() {
    if (!finished_ && drafts_->refine(number_, iterations_, stopped_)) {
        tokens_ += drafts_->tokens();
        finished_ = ++number_ == iterations_;
    } else {
        finished_ = true;
    }
    return !finished_;
}

void MaskPredictSearch::stop(std::size_t task) {
    stopped_[task] = true;
}

bool MaskPredictSearch::done(std::size_t task) const {
    return finished_ || stopped_[task];
}

SentenceBeam::Written MaskPredictSearch::written(std::size_t task) const {
    const Draft& draft = drafts_->best_of(task);
    return {draft.tokens, draft.log_probabilities, {}};
}

Hypothesis MaskPredictSearch::best(std::size_t task) const {
    Hypothesis found = hypothesis_of(drafts_->best_of(task), eos_);
    if (stopped_[task] && found.end == EndReason::EndOfSentence) {
        found.end = EndReason::Limit;
    }
    return found;
}

}  // namespace headscope
