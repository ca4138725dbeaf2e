// Scores texts with a model that has classes or a number for them.
#pragma once

#include <string>
#include <vector>

#include "cli/score/line_scorer.h"
#include "infer/scored_text.h"

namespace headscope {

class TextScorer final : public LineScorer {
public:
    // Error for a model without scores of texts.
    TextScorer(const CommonOptions& common, std::int64_t batch_tokens);

    const OutputConfig& output() const { return directory().config.output; }
    const std::vector<std::string>& labels() const { return output().labels; }
    bool has_classes() const { return output().has_classes(); }

private:
    std::vector<Example> examples_of(const ScoredLine& line) const override;

    ScoredTextEncoder encoder_;
};

}  // namespace headscope
