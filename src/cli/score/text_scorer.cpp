#include "cli/score/text_scorer.h"

namespace headscope {

TextScorer::TextScorer(const CommonOptions& common, std::int64_t batch_tokens)
    : LineScorer(common, batch_tokens), encoder_(directory().config, directory().source_tokenizer, frame()) {
    require_text_scores(directory());
}

std::vector<Example> TextScorer::examples_of(const ScoredLine& line) const {
    return {encoder_.encode(line.text, line.pair)};
}

}  // namespace headscope
