#include "eval/compare_translations.h"

#include <limits>
#include <optional>

#include "infer/forced_scores.h"
#include "support/check.h"

namespace headscope {

namespace {

// A missing candidate scores NaN.
CandidateScores score_candidates(const TranslatingSide& side, const TranslatedSentence& sentence,
                                 const Divergence& divergence) {
    const std::vector<std::int32_t> prefix(
        sentence.target_ids.begin(), sentence.target_ids.begin() + static_cast<std::ptrdiff_t>(divergence.position));
    Context ctx{.backend = side.backend, .compute = side.compute};
    const std::vector<double> scores =
        next_log_probabilities(ctx, side.translator.transformer(), sentence.source_ids, prefix);
    CandidateScores result{};
    for (std::size_t i = 0; i < result.size(); ++i) {
        const std::optional<std::int32_t> token = divergence.candidates[i];
        result[i] = token ? scores.at(static_cast<std::size_t>(*token)) : std::numeric_limits<double>::quiet_NaN();
    }
    return result;
}

}  // namespace

Agreement compare_translations(const std::array<TranslatingSide, 2>& sides) {
    HEADSCOPE_CHECK(sides[0].sentences.size() == sides[1].sentences.size(), "both sides translate the same lines");
    Agreement agreement;
    for (std::size_t i = 0; i < sides[0].sentences.size(); ++i) {
        const TranslatedSentence& first = sides[0].sentences[i];
        const TranslatedSentence& second = sides[1].sentences[i];
        HEADSCOPE_CHECK(first.source_ids == second.source_ids, "both sides translate the same lines");
        if (first.source_ids.empty()) {
            continue;
        }
        const std::optional<Divergence> divergence = find_divergence(first.target_ids, second.target_ids);
        if (!divergence) {
            agreement.add_identical(first.log_probability, second.log_probability);
            continue;
        }
        Difference difference{.sentence = i, .divergence = *divergence};
        for (std::size_t side = 0; side < sides.size(); ++side) {
            difference.by_device[side] = score_candidates(sides[side], first, *divergence);
        }
        difference.gap = score_gap(*divergence, difference.by_device);
        agreement.differences.push_back(difference);
    }
    return agreement;
}

}  // namespace headscope
