// Finds answers to questions in texts.
#pragma once

#include <vector>

#include "cli/score/line_scorer.h"
#include "infer/answers_in_text.h"

namespace headscope {

// Of lines whose text is a question and whose pair is its context.
class AnswerScorer final : public LineScorer {
public:
    // Error for a model that finds no answers.
    AnswerScorer(const CommonOptions& common, std::int64_t batch_tokens, std::int64_t longest);

    SpanAnswer answer(const ScoredLine& line) const;

private:
    std::vector<Example> examples_of(const ScoredLine& line) const override;

    AnswerFinder finder_;
    std::int64_t longest_;
};

}  // namespace headscope
