#include "cli/look/class_token.h"

#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "data/batch.h"
#include "infer/response_scores.h"
#include "infer/scored_text.h"
#include "model/family.h"
#include "model/frame_of_config.h"
#include "observe/recorded_text.h"
#include "support/usage_error.h"

namespace headscope {

void choose_class_token(AttentionSelection& selection, const ModelDirectory& model) {
    const OutputConfig& output = model.config.output;
    const bool classifies = output.scores_texts();
    if (!classifies || output.scored != ScoredState::First || !traits(model.config.architecture).fills_masks) {
        throw UsageError(
            fmt::format("--class-token is for masked models that read a text's class from its first token, and {} {}",
                        model.path, classifies ? "reads it elsewhere" : "has no classes"));
    }
    selection.positions = {1};
}

std::string class_sentence(const Place& place, const std::string& text) {
    const ModelDirectory& model = place.model.model();
    Example example{.target = target_in_ids(model.config, encode_language_text(model, text))};
    example.types = token_types_of(model.config, example.target);
    example.labels.assign(example.target.size(), kNoTarget);
    example.labels.front() = 0;
    Context ctx{.backend = place.backend, .compute = place.compute};
    const std::vector<double> scores = label_scores(ctx, place.model.network(), std::span(&example, 1),
                                                    frame_of(model.config), {.longest = model.config.max_length})
                                           .front();
    if (model.config.output.head == OutputHead::Scalar) {
        return fmt::format("Score: {:.3f}.", scores.front());
    }
    const std::vector<double> probabilities = probabilities_of(model.config.output, scores);
    const auto best = std::ranges::max_element(probabilities);
    return fmt::format("{}: {}, probability {:.3f}.",
                       model.config.output.head == OutputHead::Labels ? "Likeliest class" : "Class",
                       model.config.output.labels[static_cast<std::size_t>(best - probabilities.begin())], *best);
}

}  // namespace headscope
