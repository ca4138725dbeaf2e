// Scores of given translations or texts with changed heads.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "explore/editing_observer.h"
#include "infer/scored_pair.h"

namespace headscope {

// ScoreSession of one pair after the other, since edits count the tokens of one. Those of a text that is longer than
// the model's max_length count in each of its blocks.
class EditedScoreSession final : public WorkSession {
public:
    // The edits are valid for the model, which outlives the session, as do the pairs.
    EditedScoreSession(Backend& backend, const LoadedModel& models, Compute compute,
                       const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                       std::int64_t batch_tokens, Languages languages, std::vector<AttentionEdit> edits);

    bool step() override;
    std::int64_t tokens() const override { return tokens_ + (current_ == nullptr ? 0 : current_->scores.tokens()); }
    std::vector<ScoredPair> take() { return std::move(scored_); }  // once no step is left

private:
    struct Pair {
        Pair(const EditedScoreSession& of, const std::string& source, const std::string& target);
        EditingObserver observer;
        Context ctx;
        ScoreSession scores;
    };

    Backend& backend_;
    const LoadedModel& models_;
    const Compute compute_;
    const std::vector<std::string>& sources_;
    const std::vector<std::string>& targets_;
    const std::int64_t batch_tokens_;
    const Languages languages_;
    const std::vector<AttentionEdit> edits_;
    std::unique_ptr<Pair> current_;  // scored_.size(); null: not begun
    std::vector<ScoredPair> scored_;
    std::int64_t tokens_ = 0;  // of the pairs before
};

}  // namespace headscope
