#include "cli/score/answer_scorer.h"

namespace headscope {

AnswerScorer::AnswerScorer(const CommonOptions& common, std::int64_t batch_tokens, std::int64_t longest)
    : LineScorer(common, batch_tokens), finder_(directory()), longest_(longest) {}

std::vector<Example> AnswerScorer::examples_of(const ScoredLine& line) const {
    std::vector<Example> examples;
    for (ContextWindow& window : finder_.windows(line.text, line.pair.value())) {
        examples.push_back(std::move(window.example));
    }
    return examples;
}

SpanAnswer AnswerScorer::answer(const ScoredLine& line) const {
    return finder_.best(line.pair.value(), finder_.windows(line.text, line.pair.value()), line.scores, longest_);
}

}  // namespace headscope
