#include "eval/compare_translations.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "data/batch.h"
#include "infer/forced_scores.h"
#include "infer/teacher_forced.h"
#include "model/family.h"
#include "support/check.h"

namespace headscope {

namespace {

using Ids = std::vector<std::int32_t>;

// The position at which a language model predicts a token of its output; `ids` are all that it sees.
std::size_t predicted_at(const ModelConfig& config, const Ids& ids, std::size_t token) {
    if (traits(config.architecture).continues_text) {
        return ids.size() - 1;
    }
    auto mask = std::find(ids.begin(), ids.end(), config.frame.mask_id);
    for (; token > 0; --token) {
        mask = std::find(mask + 1, ids.end(), config.frame.mask_id);
    }
    return static_cast<std::size_t>(mask - ids.begin());
}

// A missing candidate scores NaN.
CandidateScores score_candidates(const TranslatingSide& side, const TextResult& sentence,
                                 const Divergence& divergence) {
    const ModelConfig& config = side.translator.model().config;
    const auto end = sentence.target_ids.begin() + static_cast<std::ptrdiff_t>(divergence.position);
    const Ids prefix(sentence.target_ids.begin(), end);
    Context ctx{.backend = side.backend, .compute = side.compute};
    std::vector<double> next;         // of a translation model: log P of every token
    std::vector<Example> candidates;  // else
    if (traits(config.architecture).reads_source) {
        next = next_log_probabilities(ctx, side.translator.transformer(), sentence.source_ids, prefix);
    } else {
        Example seen{.target = sentence.source_ids};
        if (traits(config.architecture).continues_text) {
            seen.target.insert(seen.target.end(), prefix.begin(), prefix.end());
        }
        seen.labels.assign(seen.target.size(), kNoTarget);
        for (const std::optional<std::int32_t> token : divergence.candidates) {
            seen.labels[predicted_at(config, seen.target, divergence.position)] = token.value_or(0);
            candidates.push_back(seen);
        }
    }
    const auto forced = force_targets(ctx, side.translator.models(), candidates, {}, {.pad = padding_id(config)});
    CandidateScores result{};
    for (std::size_t i = 0; i < result.size(); ++i) {
        const std::optional<std::int32_t> token = divergence.candidates[i];
        result[i] = !token            ? std::numeric_limits<double>::quiet_NaN()
                    : !forced.empty() ? forced[i].front().log_probability
                                      : next.at(static_cast<std::size_t>(*token));
    }
    return result;
}

// Differences that do not follow from another.
std::vector<Divergence> divergences_of(Architecture family, const Ids& first, const Ids& second) {
    std::vector<Divergence> found;
    if (!traits(family).fills_masks) {
        if (const std::optional<Divergence> divergence = find_divergence(first, second)) {
            found.push_back(*divergence);
        }
        return found;
    }
    for (std::size_t mask = 0; mask < first.size(); ++mask) {
        if (first[mask] != second[mask]) {
            found.push_back({mask, {first[mask], second[mask]}});
        }
    }
    return found;
}

}  // namespace

Agreement compare_translations(const std::array<TranslatingSide, 2>& sides) {
    HEADSCOPE_CHECK(sides[0].sentences.size() == sides[1].sentences.size(), "both sides translate the same lines");
    const Architecture family = sides[0].translator.model().config.architecture;
    Agreement agreement;
    for (std::size_t i = 0; i < sides[0].sentences.size(); ++i) {
        const TextResult& first = sides[0].sentences[i];
        const TextResult& second = sides[1].sentences[i];
        HEADSCOPE_CHECK(first.source_ids == second.source_ids, "both sides translate the same lines");
        if (first.source_ids.empty()) {
            continue;
        }
        const std::vector<Divergence> divergences = divergences_of(family, first.target_ids, second.target_ids);
        if (divergences.empty()) {
            agreement.add_identical(first.log_probability, second.log_probability);
            continue;
        }
        std::vector<Difference> differences;
        for (const Divergence& divergence : divergences) {
            Difference& difference = differences.emplace_back(Difference{.sentence = i, .divergence = divergence});
            for (std::size_t side = 0; side < sides.size(); ++side) {
                difference.by_device[side] = score_candidates(sides[side], first, divergence);
            }
            difference.gap = score_gap(divergence, difference.by_device);
        }
        agreement.differences.push_back(
            *std::max_element(differences.begin(), differences.end(),
                              [](const Difference& a, const Difference& b) { return a.gap < b.gap; }));
    }
    return agreement;
}

}  // namespace headscope
