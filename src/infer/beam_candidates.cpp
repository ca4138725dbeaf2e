// SentenceBeam: the continuations that compete in a step.
#include <algorithm>
#include <cmath>
#include <utility>

#include "infer/beam_search.h"
#include "infer/hypotheses.h"
#include "infer/token_weights.h"
#include "support/check.h"

namespace headscope {

namespace {

// Rounding can raise the logarithm of a probability near 1 above 0, which would break the bound of can_stop().
double at_most_certain(float log_probability) {
    return std::min(0.0, static_cast<double>(log_probability));
}

std::vector<double> chances_of(std::span<const float> log_probabilities) {
    std::vector<double> chances(log_probabilities.size());
    std::transform(log_probabilities.begin(), log_probabilities.end(), chances.begin(), [](float value) {
        return std::isfinite(value) ? at_most_certain(value) : static_cast<double>(value);
    });
    return chances;
}

}  // namespace

std::size_t SentenceBeam::most_candidates(const SearchOptions& options, const TokenRules& rules) {
    return (2 + rules.other_ends.size()) * static_cast<std::size_t>(options.beam);
}

int SentenceBeam::tokens_per_row(const SearchOptions& options, const TokenRules& rules, std::int64_t vocabulary) {
    const std::int64_t wanted =
        static_cast<std::int64_t>(most_candidates(options, rules)) + std::ssize(rules.forbidden);
    return static_cast<int>(std::min(wanted, vocabulary));
}

std::int64_t SentenceBeam::wanted(std::int64_t vocabulary) const {
    std::size_t unwanted = 0;
    for (const Live& live : live_) {
        unwanted = std::max(unwanted, live.unwanted.size());
    }
    const std::int64_t needed = tokens_per_row(options_, rules_, vocabulary) + static_cast<std::int64_t>(unwanted);
    return std::min(std::max<std::int64_t>(needed, options_.alternatives), vocabulary);
}

std::int64_t SentenceBeam::most_wanted(std::int64_t vocabulary) const {
    const std::int64_t without_piece = std::max<std::int64_t>(vocabulary - rules_.pieces, 0);
    return std::min(wanted(vocabulary) + without_piece, vocabulary);
}

bool SentenceBeam::enough(const NextTokens& next, std::int64_t first_row) const {
    const auto needed = static_cast<std::ptrdiff_t>(most_candidates(options_, rules_));
    for (std::int64_t row = 0; row < live() && !certain(); ++row) {
        const auto first = next.tokens.begin() + (first_row + row) * next.k;
        const auto usable = std::count_if(first, first + next.k, [&](std::int32_t token) {
            return may_follow(live_[static_cast<std::size_t>(row)], token);
        });
        // What ranks below an impossible token is impossible, too.
        const float last = next.log_probabilities[static_cast<std::size_t>((first_row + row + 1) * next.k - 1)];
        if (usable < needed && std::isfinite(last)) {
            return false;
        }
    }
    return true;
}

bool SentenceBeam::wants_all() const {
    return !certain() && (options_.sample || length_ < static_cast<std::int64_t>(task_.prefix.size()) || weighs());
}

bool SentenceBeam::weighs() const {
    return std::any_of(live_.begin(), live_.end(),
                       [&](const Live& live) { return weighs_tokens(options_, live.unwanted.size()); });
}

// Whether the next token is given, or the forced end.
bool SentenceBeam::certain() const {
    return length_ < static_cast<std::int64_t>(task_.given) || (options_.force_end && length_ + 1 == task_.limit);
}

bool SentenceBeam::may_follow(const Live& live, std::int32_t token) const {
    return rules_.may_be_written(token) &&
           std::find(live.unwanted.begin(), live.unwanted.end(), token) == live.unwanted.end();
}

std::vector<SentenceBeam::Candidate> SentenceBeam::ranked_candidates(const NextTokens& next,
                                                                     std::int64_t first_row) const {
    std::vector<Candidate> candidates;
    for (std::int64_t row = 0; row < live(); ++row) {
        const Live& hypothesis = live_[static_cast<std::size_t>(row)];
        for (int rank = 0; rank < next.k; ++rank) {
            const auto at = static_cast<std::size_t>((first_row + row) * next.k + rank);
            const std::int32_t token = next.tokens[at];
            if (may_follow(hypothesis, token) && std::isfinite(next.log_probabilities[at])) {
                candidates.push_back(
                    {hypothesis.log_probability + at_most_certain(next.log_probabilities[at]), row, token});
            }
        }
    }
    return best_candidates(std::move(candidates));
}

std::vector<double> SentenceBeam::weighed(const AllTokens& next, std::int64_t row, std::int64_t first_row) const {
    const Live& live = live_[static_cast<std::size_t>(row)];
    const double log_sum = next.log_sums.empty() ? 0.0 : next.log_sums[static_cast<std::size_t>(first_row + row)];
    return weighed_tokens(next.row(first_row + row), log_sum, options_, rules_, task_, live.tokens, live.unwanted);
}

std::vector<SentenceBeam::Candidate> SentenceBeam::weighed_candidates(const AllTokens& next,
                                                                      std::int64_t first_row) const {
    std::vector<Candidate> candidates;
    for (std::int64_t row = 0; row < live(); ++row) {
        const Live& hypothesis = live_[static_cast<std::size_t>(row)];
        const std::vector<double> scores = weighed(next, row, first_row);
        for (std::size_t token = 0; token < scores.size(); ++token) {
            const auto id = static_cast<std::int32_t>(token);
            if (std::isfinite(scores[token]) && may_follow(hypothesis, id)) {
                candidates.push_back({hypothesis.log_probability + scores[token], row, id});
            }
        }
    }
    return best_candidates(std::move(candidates));
}

std::vector<SentenceBeam::Candidate> SentenceBeam::best_candidates(std::vector<Candidate> candidates) const {
    const std::size_t kept = std::min(candidates.size(), most_candidates(options_, rules_));
    std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(kept), candidates.end(),
                      [](const Candidate& a, const Candidate& b) {
                          if (a.log_probability != b.log_probability) {
                              return a.log_probability > b.log_probability;
                          }
                          return a.row != b.row ? a.row < b.row : a.token < b.token;
                      });
    candidates.resize(kept);
    return candidates;
}

std::vector<SentenceBeam::Candidate> SentenceBeam::certain_candidates() const {
    const bool given = length_ < static_cast<std::int64_t>(task_.given);
    const std::int32_t token = given ? task_.prefix[static_cast<std::size_t>(length_)] : rules_.eos;
    std::vector<Candidate> candidates;
    for (std::int64_t row = 0; row < live(); ++row) {
        candidates.push_back({live_[static_cast<std::size_t>(row)].log_probability, row, token});
    }
    return candidates;
}

// The model's own probability: options that change probabilities choose among tokens, and here nothing is chosen.
std::vector<SentenceBeam::Candidate> SentenceBeam::forced_candidate(std::span<const float> next) const {
    const std::int32_t token = task_.prefix[static_cast<std::size_t>(length_)];
    const float log_probability = next[static_cast<std::size_t>(token)];
    if (!std::isfinite(log_probability)) {
        return {};
    }
    return {{live_.front().log_probability + at_most_certain(log_probability), 0, token}};
}

std::vector<SentenceBeam::Candidate> SentenceBeam::sampled_candidate(std::span<const double> next) const {
    std::vector<TokenChance> allowed;
    for (std::size_t token = 0; token < next.size(); ++token) {
        const auto id = static_cast<std::int32_t>(token);
        if (std::isfinite(next[token]) && may_follow(live_.front(), id)) {
            allowed.push_back({id, next[token]});
        }
    }
    if (allowed.empty()) {
        return {};
    }
    const TokenChance& sampled = allowed[draw(
        allowed, options_, {.line = task_.line, .part = task_.part, .position = static_cast<std::uint32_t>(length_)})];
    return {{live_.front().log_probability + sampled.log_probability, 0, sampled.token}};
}

// A given token had none.
void SentenceBeam::list_alternatives(const NextTokens& next, std::int64_t first_row) {
    if (options_.alternatives == 0) {
        return;
    }
    const bool given = length_ < static_cast<std::int64_t>(task_.given);
    alternatives_.clear();
    for (std::int64_t row = 0; row < live(); ++row) {
        std::vector<TokenChance> likeliest;
        for (int rank = 0; rank < std::min(options_.alternatives, given ? 0 : next.k); ++rank) {
            const auto at = static_cast<std::size_t>((first_row + row) * next.k + rank);
            likeliest.push_back({next.tokens[at], static_cast<double>(next.log_probabilities[at])});
        }
        alternatives_.push_back(std::make_shared<const std::vector<TokenChance>>(std::move(likeliest)));
    }
}

void SentenceBeam::list_alternatives(const AllTokens& next, std::int64_t first_row) {
    if (options_.alternatives > 0) {
        const auto count = std::min<std::int64_t>(options_.alternatives, next.vocabulary);
        list_alternatives(best_of(next, first_row, live(), static_cast<int>(count)), 0);
    }
}

void SentenceBeam::advance(const NextTokens& next, std::int64_t first_row) {
    HEADSCOPE_CHECK(!done_, "advance() of a finished sentence");
    HEADSCOPE_CHECK(!wants_all(), "this step needs the probability of every token");
    HEADSCOPE_CHECK(first_row >= 0 && first_row + live() <= next.rows, "rows of a sentence are missing");
    list_alternatives(next, first_row);
    take(certain() ? certain_candidates() : ranked_candidates(next, first_row));
}

void SentenceBeam::advance(const AllTokens& next, std::int64_t first_row) {
    HEADSCOPE_CHECK(!done_, "advance() of a finished sentence");
    HEADSCOPE_CHECK(first_row >= 0 && first_row + live() <= next.rows, "rows of a sentence are missing");
    list_alternatives(next, first_row);
    if (certain()) {
        take(certain_candidates());
    } else if (length_ < static_cast<std::int64_t>(task_.prefix.size())) {
        take(forced_candidate(next.row(first_row)));
    } else if (options_.sample) {
        take(sampled_candidate(weighs() ? weighed(next, 0, first_row) : chances_of(next.row(first_row))));
    } else if (weighs()) {
        take(weighed_candidates(next, first_row));
    } else {
        take(ranked_candidates(best_of(next, first_row, live(), static_cast<int>(most_wanted(next.vocabulary))), 0));
    }
}

}  // namespace headscope
