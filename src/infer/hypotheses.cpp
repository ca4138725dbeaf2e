#include "infer/hypotheses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "support/check.h"

namespace headscope {

void check_search_options(const SearchOptions& options) {
    if (options.beam < 1 || options.beam > SearchOptions::kMaxBeam) {
        throw Error(
            fmt::format("a beam of {} is not possible: give 1 (greedy) to {}", options.beam, SearchOptions::kMaxBeam));
    }
    // Written so that NaN fails as well. A negative penalty would make the bound of the early end wrong.
    if (!(options.length_penalty >= 0.0) || !std::isfinite(options.length_penalty)) {
        throw Error(fmt::format("a length penalty of {} is not possible: give 0 (none) or more, such as 0.6",
                                options.length_penalty));
    }
    if (options.max_extra < 0) {
        throw Error(fmt::format("an output {} tokens longer than the input is not possible: give 0 or more",
                                options.max_extra));
    }
}

double length_penalty(std::int64_t length, double alpha) {
    return std::pow((5.0 + static_cast<double>(length)) / 6.0, alpha);
}

std::string unusable_message(const Hypothesis& hypothesis) {
    return fmt::format(
        "the model gives no usable probability for token {} of an output (NaN or infinite): its weights are damaged, "
        "or training diverged",
        hypothesis.tokens.size() + 1);
}

TokenRules token_rules(const ModelConfig& config, bool allow_unknown) {
    TokenRules rules{.eos = config.eos_id, .forbidden = {}};
    std::vector<std::int32_t> wanted{config.pad_id, config.bos_id};
    if (!allow_unknown) {
        wanted.push_back(config.unk_id);
    }
    for (const std::int32_t id : wanted) {
        // Some models start from eos, or pad with it.
        const bool known = std::find(rules.forbidden.begin(), rules.forbidden.end(), id) != rules.forbidden.end();
        if (id >= 0 && id != rules.eos && !known) {
            rules.forbidden.push_back(id);
        }
    }
    return rules;
}

SentenceBeam::SentenceBeam(const SearchOptions& options, const TokenRules& rules, std::int64_t limit)
    : options_(options), rules_(rules), limit_(limit), live_(1) {
    HEADSCOPE_CHECK(limit >= 1, fmt::format("an output of {} tokens has no room for its end", limit));
}

int SentenceBeam::tokens_per_row(const SearchOptions& options, const TokenRules& rules, std::int64_t vocabulary) {
    const auto wanted = static_cast<std::int64_t>(2 * options.beam) + static_cast<std::int64_t>(rules.forbidden.size());
    return static_cast<int>(std::min(wanted, vocabulary));
}

std::vector<SentenceBeam::Candidate> SentenceBeam::ranked_candidates(const NextTokens& next,
                                                                     std::int64_t first_row) const {
    std::vector<Candidate> candidates;
    for (std::int64_t row = 0; row < live(); ++row) {
        const double so_far = live_[static_cast<std::size_t>(row)].log_probability;
        for (int rank = 0; rank < next.k; ++rank) {
            const auto at = static_cast<std::size_t>((first_row + row) * next.k + rank);
            const std::int32_t token = next.tokens[at];
            const bool forbidden =
                std::find(rules_.forbidden.begin(), rules_.forbidden.end(), token) != rules_.forbidden.end();
            if (!forbidden && std::isfinite(next.log_probabilities[at])) {
                // Rounding can lift the logarithm of a probability near 1 above 0, which the bound of can_stop() rules
                // out.
                const double step = std::min(0.0, static_cast<double>(next.log_probabilities[at]));
                candidates.push_back({so_far + step, row, token});
            }
        }
    }
    const std::size_t kept = std::min(candidates.size(), static_cast<std::size_t>(2 * options_.beam));
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

void SentenceBeam::advance(const NextTokens& next, std::int64_t first_row) {
    HEADSCOPE_CHECK(!done_, "a finished sentence was asked to go on");
    HEADSCOPE_CHECK(first_row >= 0 && first_row + live() <= next.rows, "the rows of a sentence are not all there");
    candidates_ = ranked_candidates(next, first_row);
    const std::vector<Live> before = std::exchange(live_, {});
    ++length_;
    const auto beam = static_cast<std::size_t>(options_.beam);
    for (taken_ = 0; taken_ < candidates_.size() && live_.size() < beam; ++taken_) {
        const Candidate& candidate = candidates_[taken_];
        const Live& parent = before[static_cast<std::size_t>(candidate.row)];
        if (candidate.token != rules_.eos) {
            live_.push_back({parent.tokens, candidate.log_probability, candidate.row});
            live_.back().tokens.push_back(candidate.token);
        } else {
            finish(parent, candidate.token, candidate.log_probability);
        }
    }
    if (live_.empty() && !has_finished_) {
        // This sentence's trouble: the others of the batch go on.
        const Live& longest = before.front();
        offer({longest.tokens, longest.log_probability, longest.log_probability, EndReason::Unusable});
    }
    if (length_ == limit_ && !has_finished_) {
        cut();
    }
    done_ = live_.empty() || length_ == limit_ || can_stop();
}

void SentenceBeam::finish(const Live& parent, std::int32_t token, double log_probability) {
    Hypothesis hypothesis{parent.tokens, log_probability,
                          log_probability / length_penalty(length_, options_.length_penalty), EndReason::EndOfSentence};
    hypothesis.tokens.push_back(token);
    offer(std::move(hypothesis));
}

void SentenceBeam::offer(Hypothesis hypothesis) {
    if (!has_finished_ || hypothesis.score > best_.score) {
        best_ = std::move(hypothesis);
    }
    has_finished_ = true;
}

// The log probability of a live hypothesis only falls and its penalty only grows, up to that of the longest output: so
// its score can never exceed log probability / lp(limit). Rounding keeps that order, since it is monotone.
bool SentenceBeam::can_stop() const {
    if (!has_finished_) {
        return false;
    }
    if (options_.beam == 1) {
        return true;
    }
    const double reachable = live_.front().log_probability / length_penalty(limit_, options_.length_penalty);
    return options_.early_end && reachable <= best_.score;
}

void SentenceBeam::cut() {
    // All have one length, so the likeliest has the highest score.
    const Live& first = live_.front();
    offer({first.tokens, first.log_probability,
           first.log_probability / length_penalty(length_, options_.length_penalty), EndReason::Limit});
}

const Hypothesis& SentenceBeam::best() const {
    HEADSCOPE_CHECK(done_, "an unfinished search has no best hypothesis");
    return best_;
}

}  // namespace headscope
