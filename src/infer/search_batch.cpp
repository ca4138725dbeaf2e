#include "infer/search_batch.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "infer/beam_search.h"
#include "infer/continuation.h"
#include "infer/ensemble.h"
#include "infer/mask_predict.h"
#include "infer/teacher_forced.h"
#include "support/check.h"

namespace headscope {

namespace {

std::vector<std::vector<std::int32_t>> sources_of(const std::vector<LinePart*>& parts) {
    std::vector<std::vector<std::int32_t>> sources;
    std::ranges::transform(parts, std::back_inserter(sources),
                           [](const LinePart* part) { return part->sentence.source_ids; });
    return sources;
}

TokenRules rules_of(const ModelDirectory& model, const SearchOptions& search) {
    TokenRules rules = token_rules(model.config, *model.target_tokenizer, search);
    rules.tokenizer = model.target_tokenizer.get();
    rules.text_of = [&tokenizer = *model.target_tokenizer](const std::vector<std::int32_t>& prompt,
                                                           const std::vector<std::int32_t>& tokens) {
        return decode_after(tokenizer, prompt, tokens);
    };
    return rules;
}

// The probabilities of the prompts that want them: SearchOptions::echo.
class Echoes {
public:
    Echoes(Context& ctx, const LoadedModel& model, const std::vector<LinePart*>& parts) {
        ForcedLimits limits;
        for (LinePart* part : parts) {
            const std::vector<std::int32_t>& ids = part->task.prompt;
            if (part->search->echo && ids.size() > 1) {
                parts_.push_back(part);
                examples_.push_back({.target = {ids.begin(), ids.end() - 1}, .labels = {ids.begin() + 1, ids.end()}});
                limits.alternatives = std::max(limits.alternatives, part->search->alternatives);
            }
        }
        forced_.emplace(ctx, model.models(), examples_, limits, Frame{});
    }

    // Returns whether something is left to do.
    bool step() {
        if (!forced_ || forced_->step()) {
            return forced_.has_value();
        }
        const auto found = forced_->take();
        forced_.reset();
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            if (parts_[i] == nullptr) {
                continue;
            }
            std::vector<WrittenToken>& echo = parts_[i]->sentence.echo;
            echo.clear();
            for (const ForcedToken& token : found[i]) {
                echo.push_back({examples_[i].labels[echo.size()], token.log_probability, token.alternatives});
                auto& alternatives = echo.back().alternatives;
                alternatives.resize(
                    std::min(alternatives.size(), static_cast<std::size_t>(parts_[i]->search->alternatives)));
            }
        }
        return false;
    }
    void forget(LinePart* part) { std::ranges::replace(parts_, part, nullptr); }

private:
    std::vector<LinePart*> parts_;  // null: one that has left
    std::vector<Example> examples_;
    std::optional<ForcedTargets> forced_;
};

// Parts whose sources or prompts of one length are read together.
struct Group {
    std::vector<LinePart*> parts;  // null: one that has left
    std::unique_ptr<Echoes> echoes;
    std::unique_ptr<Scorer> scorer;

    // Returns whether something is left to read.
    bool read_on() { return echoes->step() || scorer->read_on(); }

    // Once it has begun, the part's row stays until the others are read.
    void forget(LinePart* part) {
        if (scorer == nullptr) {
            std::erase(parts, part);
        } else {
            std::ranges::replace(parts, part, nullptr);
            echoes->forget(part);
        }
    }
};

// The search of a model that writes from left to right. Prompts of other lengths, and parts that join later, are read
// on their own and then continue side by side.
class TokenBatch final : public SearchBatch {
public:
    TokenBatch(Context& ctx, const LoadedModel& model, const std::vector<LinePart*>& parts) : ctx_(ctx), model_(model) {
        add_groups(parts);
        begin(joining_.front());
        if (!joining_.front().scorer->can_join()) {
            joining_.resize(1);
            parts_ = joining_.front().parts;
        }
    }

    void step() override {
        if (!joining_.empty()) {
            Group& next = joining_.front();
            if (next.scorer == nullptr) {
                begin(next);
            } else if (!next.read_on()) {
                take(next);
                joining_.pop_front();
            }
        }
        begun_ = begun_ || joining_.empty();
        if (begun_) {
            search_->step();
        }
    }
    std::int64_t tokens() const override { return tokens_ + (search_ ? search_->tokens() : 0); }
    const std::vector<LinePart*>& parts() const override { return parts_; }
    bool grows() const override { return true; }
    bool done(std::size_t i) const override { return i < searched() && search_->sentence(i).done(); }
    SentenceBeam::Written written(std::size_t i) const override {
        return i < searched() ? search_->sentence(i).written() : SentenceBeam::Written{};
    }
    std::vector<Hypothesis> hypotheses(std::size_t i) const override { return search_->sentence(i).hypotheses(); }
    void remove(std::size_t i) override {
        if (i < searched()) {
            search_->remove(i);
        }
        for (Group& group : joining_) {
            group.forget(parts_[i]);
        }
        std::erase_if(joining_, [](const Group& group) { return group.parts.empty(); });
        parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    bool joins(const LinePart& part) const override {
        const Scorer& scorer = *(scorer_ == nullptr ? joining_.front().scorer : scorer_);
        const SearchOptions& own = *parts_.front()->search;
        return (own.beam == 1 || !begun_) && share_batch(own, *part.search) && scorer.can_join();
    }
    void join(const std::vector<LinePart*>& parts) override { add_groups(parts); }

private:
    std::size_t searched() const { return search_ ? search_->size() : 0; }

    void add_groups(const std::vector<LinePart*>& parts) {
        std::map<std::size_t, std::vector<LinePart*>> by_prompt;
        for (LinePart* part : parts) {
            by_prompt[part->task.prompt.size()].push_back(part);
        }
        for (auto& [length, same] : by_prompt) {
            parts_.insert(parts_.end(), same.begin(), same.end());
            joining_.push_back({.parts = std::move(same), .echoes = nullptr, .scorer = nullptr});
        }
    }

    void begin(Group& group) {
        const auto sources = sources_of(group.parts);
        group.echoes = std::make_unique<Echoes>(ctx_, model_, group.parts);
        group.scorer = make_scorer(ctx_, model_.generators(), sources);
        for (const std::vector<std::int32_t>& source : sources) {
            tokens_ += std::ssize(source);
        }
    }

    // The rows of a part that has left are never continued.
    void take(Group& group) {
        std::int32_t row = 0;
        if (scorer_ == nullptr) {
            scorer_ = std::move(group.scorer);
            search_.emplace(*scorer_);
        } else {
            row = scorer_->join(*group.scorer);
        }
        for (const LinePart* part : group.parts) {
            if (part != nullptr) {
                const SearchTask& task = part->task;
                search_->add(SentenceBeam(*part->search, rules_of(model_.model(), *part->search), task),
                             task.prompt.empty() ? model_.model().config.frame.bos_id : task.prompt.back(), row);
            }
            ++row;
        }
    }

    Context& ctx_;
    const LoadedModel& model_;
    std::vector<LinePart*> parts_;  // those of the search, then those that join
    std::deque<Group> joining_;
    std::unique_ptr<Scorer> scorer_;
    std::optional<TokenSearch> search_;
    bool begun_ = false;
    std::int64_t tokens_ = 0;  // of sources and prompts
};

// The search of a translator that fills in masks.
class MaskBatch final : public SearchBatch {
public:
    MaskBatch(Context& ctx, const LoadedModel& model, std::vector<LinePart*> parts)
        : model_(model.model()), parts_(std::move(parts)), places_(parts_.size()) {
        std::iota(places_.begin(), places_.end(), std::size_t{0});
        std::vector<SearchTask> tasks;
        std::vector<const SearchOptions*> options;
        for (const LinePart* part : parts_) {
            tasks.push_back(part->task);
            options.push_back(part->search.get());
        }
        search_.emplace(ctx, as_mask_predict(model.network()), sources_of(parts_), tasks, options);
    }

    void step() override { search_->step(); }
    std::int64_t tokens() const override { return search_->tokens(); }
    const std::vector<LinePart*>& parts() const override { return parts_; }
    bool grows() const override { return false; }
    bool done(std::size_t i) const override { return search_->done(places_[i]); }
    SentenceBeam::Written written(std::size_t i) const override { return search_->written(places_[i]); }
    std::vector<Hypothesis> hypotheses(std::size_t i) const override {
        Hypothesis best = search_->best(places_[i]);
        if (!best.tokens.empty()) {  // it is usable, and ends
            best.text = decode_after(*model_.target_tokenizer, {}, {best.tokens.begin(), best.tokens.end() - 1});
        }
        return {std::move(best)};
    }
    void remove(std::size_t i) override {
        search_->stop(places_[i]);
        places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(i));
        parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    bool joins(const LinePart&) const override { return false; }  // all texts are written in the same iterations
    void join(const std::vector<LinePart*>&) override {
        check_failed(__FILE__, __LINE__, "join", "no part joins a batch that fills in masks");
    }

private:
    const ModelDirectory& model_;
    std::vector<LinePart*> parts_;
    std::vector<std::size_t> places_;  // of the parts in the search
    std::optional<MaskPredictSearch> search_;
};

}  // namespace

std::unique_ptr<SearchBatch> begin_batch(Context& ctx, const LoadedModel& model, std::vector<LinePart*> parts) {
    if (model.model().config.generation == Generation::MaskPredict) {
        return std::make_unique<MaskBatch>(ctx, model, std::move(parts));
    }
    return std::make_unique<TokenBatch>(ctx, model, parts);
}

}  // namespace headscope
