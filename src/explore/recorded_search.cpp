#include "explore/recorded_search.h"

#include <algorithm>

#include "backend/ops/search.h"
#include "explore/explored_gaps.h"
#include "infer/prepared_line.h"
#include "model/family.h"
#include "observe/recorded_text.h"
#include "support/check.h"

namespace headscope {

namespace {

SearchTask task_for(const ModelConfig& config, const CheckedRequest& request) {
    if (traits(config.architecture).reads_source) {
        return translation_task(request.frame, request.search, source_ids(request.source), config.max_length);
    }
    return completion_task(target_in_ids(config, request.source), request.search, config.max_length);
}

}  // namespace

RecordedSearch::RecordedSearch(Backend& backend, const LoadedModel& translator, Compute compute,
                               const CheckedRequest& request)
    : backend_(backend),
      model_(translator.model()),
      request_(request),
      task_(task_for(model_.config, request)),
      rules_(token_rules(model_.config, *model_.target_tokenizer, request.search)),
      collector_(request.sites),
      observer_(request.edits, request.source_length, records() ? &collector_ : nullptr),
      ctx_{.backend = backend,
           .observer = records() || !request.edits.empty() ? &observer_ : nullptr,
           .compute = compute},
      scorer_(ctx_, as_generator(translator.network()),
              {task_.prompt.empty() ? source_ids(request.source) : task_.prompt}),
      recorder_(scorer_, collector_, backend_),
      beam_(request.search, rules_, task_),
      tree_(request.search, rules_, task_.limit,
            [this](std::int32_t token) { return token_text(*model_.target_tokenizer, model_.config, token); }),
      tokens_{task_.prompt.empty() ? model_.config.frame.bos_id : task_.prompt.back()},
      parents_{0} {
    const std::int64_t wanted = std::max<std::int64_t>(
        SentenceBeam::tokens_per_row(request.search, rules_, scorer_.vocabulary()), request.candidates);
    k_ = static_cast<int>(std::min({wanted, scorer_.vocabulary(), std::int64_t{LogSoftmaxTopK::kMaxK}}));
}

void RecordedSearch::step() {
    observer_.set_first_query(static_cast<std::int64_t>(nexts_.size()));
    const auto wanted =
        static_cast<int>(std::min<std::int64_t>(beam_.most_wanted(scorer_.vocabulary()), Scorer::kMostRanked));
    if (beam_.wants_all()) {
        const AllTokens& all = recorder_.step_all(tokens_, parents_);
        nexts_.push_back(best_of(all, 0, all.rows, std::max(k_, wanted)));
        beam_.advance(all, 0);
    } else {
        nexts_.push_back(recorder_.step(tokens_, parents_, std::max(k_, wanted)));
        beam_.advance(nexts_.back(), 0);
    }
    if (nexts_.size() == 1) {
        seconds_to_first_ = seconds();
    }
    tree_.follow(beam_);
    tokens_.clear();
    parents_.clear();
    for (std::int64_t i = 0; i < beam_.live(); ++i) {
        tokens_.push_back(beam_.newest(i));
        parents_.push_back(static_cast<std::int32_t>(beam_.parent(i)));
    }
}

// The candidates from which this node's token was chosen.
ExploredStep RecordedSearch::explored(std::size_t index) const {
    const BeamNode& node = tree_.nodes()[index];
    const NextTokens& next = nexts_[static_cast<std::size_t>(node.step) - 1];
    const std::size_t first = tree_.row_of(static_cast<std::size_t>(node.parent)) * static_cast<std::size_t>(next.k);
    ExploredStep step{.token = node.token, .position = node.step - 1};
    const bool given = step.position < static_cast<std::int64_t>(task_.given);
    for (int rank = 0; rank < next.k; ++rank) {
        const std::size_t at = first + static_cast<std::size_t>(rank);
        const std::int32_t token = next.tokens[at];
        const double log_probability = static_cast<double>(next.log_probabilities[at]);
        if (given) {
            step.rank = 1;
        } else if (token == node.token) {
            step.rank = rank + 1;
            step.log_probability = log_probability;
        }
        if (rank < request_.candidates) {
            step.candidates.push_back(
                {token, token_text(*model_.target_tokenizer, model_.config, token), log_probability});
        }
    }
    return step;
}

// By all outputs once they are known, and until then by the best one.
std::vector<ExploredStep> RecordedSearch::gaps(const std::vector<ExploredStep>& best) const {
    const Tokenizer& tokenizer = *model_.target_tokenizer;
    if (!beam_.done()) {
        return explored_gaps(tokenizer, request_.sentinels, best);
    }
    std::vector<ScoredOutput> outputs;
    for (const Hypothesis& hypothesis : beam_.hypotheses()) {
        outputs.push_back({hypothesis.tokens, hypothesis.token_log_probabilities});
    }
    return explored_gaps(tokenizer, request_.sentinels, outputs);
}

std::vector<std::int32_t> RecordedSearch::best() const {
    std::vector<std::int32_t> tokens;
    for (const std::size_t node : tree_.path_to(tree_.best())) {
        tokens.push_back(tree_.nodes()[node].token);
    }
    return tokens;
}

Exploration RecordedSearch::snapshot() const {
    Exploration result;
    result.finished = beam_.done();
    result.seconds_to_first = seconds_to_first_;
    if (beam_.done() && beam_.best().end == EndReason::Unusable) {
        result.problem = unusable_message(beam_.best());
        return result;
    }
    const RecordedText target =
        text_of_output(*model_.target_tokenizer, model_.config, best(), request_.frame.target_begin.size());
    if (records()) {
        for (const std::size_t node : tree_.path_to(tree_.best())) {
            result.steps.push_back(explored(node));
        }
        result.record = recorder_.record(model_.config, 0, request_.source, target);
        result.translation = model_.target_tokenizer->decode(target.ids);
        result.gaps = gaps(result.steps);
    }
    result.beam = tree_.nodes();
    result.log_probability = tree_.nodes()[tree_.best()].log_probability;
    result.score = tree_.nodes()[tree_.best()].score;
    result.end = target.ended || !beam_.done() ? EndReason::EndOfSentence : EndReason::Limit;
    result.seconds = seconds();
    return result;
}

}  // namespace headscope
