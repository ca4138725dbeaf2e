#include "infer/hypotheses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "support/check.h"

namespace headscope {

namespace {

// Rounding can raise the logarithm of a probability near 1 above 0, which would break the bound of can_stop().
double at_most_certain(float log_probability) {
    return std::min(0.0, static_cast<double>(log_probability));
}

bool holds(const std::vector<std::int32_t>& tokens, std::int32_t token) {
    return std::find(tokens.begin(), tokens.end(), token) != tokens.end();
}

}  // namespace

std::vector<std::int32_t> repeating_tokens(const std::vector<std::int32_t>& written, int n) {
    std::vector<std::int32_t> found;
    const auto before = static_cast<std::ptrdiff_t>(n) - 1;  // tokens of the n-gram before the next one
    const auto size = static_cast<std::ptrdiff_t>(written.size());
    const auto newest = written.end() - std::min(before, size);
    for (std::ptrdiff_t end = before; end < size; ++end) {
        const std::int32_t token = written[static_cast<std::size_t>(end)];
        if (std::equal(newest, written.end(), written.begin() + end - before) &&
            std::find(found.begin(), found.end(), token) == found.end()) {
            found.push_back(token);
        }
    }
    return found;
}

std::string unusable_message(const Hypothesis& hypothesis) {
    return fmt::format(
        "the model's probabilities for token {} of an output are NaN or infinite: its weights are damaged, "
        "or training diverged",
        hypothesis.tokens.size() + 1);
}

TokenRules token_rules(const ModelConfig& config, bool allow_unknown) {
    TokenRules rules{.eos = config.eos_id, .forbidden = {}, .suppressed = config.suppressed_ids};
    std::vector<std::int32_t> wanted{config.pad_id, config.bos_id};
    if (!allow_unknown) {
        wanted.push_back(config.unk_id);
    }
    for (const std::int32_t id : wanted) {
        // Some models start from eos.
        if (id >= 0 && id != rules.eos && !holds(rules.forbidden, id) && !holds(rules.suppressed, id)) {
            rules.forbidden.push_back(id);
        }
    }
    return rules;
}

SentenceBeam::SentenceBeam(const SearchOptions& options, const TokenRules& rules, SearchTask task)
    : options_(options), rules_(rules), task_(std::move(task)), live_(1) {
    HEADSCOPE_CHECK(task_.limit >= 1, fmt::format("an output limit of {} leaves no room for eos", task_.limit));
    HEADSCOPE_CHECK(
        static_cast<std::int64_t>(task_.prefix.size()) < task_.limit && task_.given <= task_.prefix.size(),
        fmt::format("a prefix of {} tokens does not fit an output of {}", task_.prefix.size(), task_.limit));
    live_.front().unwanted = unwanted_after({});
}

int SentenceBeam::tokens_per_row(const SearchOptions& options, const TokenRules& rules, std::int64_t vocabulary) {
    const auto wanted = static_cast<std::int64_t>(2 * options.beam) + static_cast<std::int64_t>(rules.forbidden.size());
    return static_cast<int>(std::min(wanted, vocabulary));
}

std::int64_t SentenceBeam::wanted(std::int64_t vocabulary) const {
    std::size_t unwanted = 0;
    for (const Live& live : live_) {
        unwanted = std::max(unwanted, live.unwanted.size());
    }
    return std::min(tokens_per_row(options_, rules_, vocabulary) + static_cast<std::int64_t>(unwanted), vocabulary);
}

bool SentenceBeam::wants_all() const {
    return !certain() && (options_.sampling.has_value() || length_ < static_cast<std::int64_t>(task_.prefix.size()));
}

// Whether the next token is given, or the forced end.
bool SentenceBeam::certain() const {
    return length_ < static_cast<std::int64_t>(task_.given) || (options_.force_end && length_ + 1 == task_.limit);
}

// Tokens that would repeat an n-gram or complete a bad word, and eos if the output is too short.
std::vector<std::int32_t> SentenceBeam::unwanted_after(const std::vector<std::int32_t>& tokens) const {
    std::vector<std::int32_t> unwanted;
    if (options_.no_repeat_ngram > 0) {
        unwanted = repeating_tokens(tokens, options_.no_repeat_ngram);
    }
    for (const std::vector<std::int32_t>& word : options_.bad_words) {
        const auto before = std::ssize(word) - 1;
        if (before <= std::ssize(tokens) && std::equal(word.begin(), word.end() - 1, tokens.end() - before) &&
            !holds(unwanted, word.back())) {
            unwanted.push_back(word.back());
        }
    }
    const auto shortest = static_cast<std::int64_t>(task_.given) + options_.min_length;
    if (std::ssize(tokens) < std::min(shortest, task_.limit - 1) && !holds(unwanted, rules_.eos)) {
        unwanted.push_back(rules_.eos);
    }
    if (task_.forbidden_after) {
        for (const std::int32_t token : task_.forbidden_after(tokens)) {
            if (!holds(unwanted, token)) {
                unwanted.push_back(token);
            }
        }
    }
    return unwanted;
}

bool SentenceBeam::may_follow(const Live& live, std::int32_t token) const {
    return !holds(rules_.forbidden, token) && !holds(rules_.suppressed, token) && !holds(live.unwanted, token);
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

std::vector<SentenceBeam::Candidate> SentenceBeam::certain_candidates() const {
    const bool given = length_ < static_cast<std::int64_t>(task_.given);
    const std::int32_t token = given ? task_.prefix[static_cast<std::size_t>(length_)] : rules_.eos;
    std::vector<Candidate> candidates;
    for (std::int64_t row = 0; row < live(); ++row) {
        candidates.push_back({live_[static_cast<std::size_t>(row)].log_probability, row, token});
    }
    return candidates;
}

std::vector<SentenceBeam::Candidate> SentenceBeam::forced_candidate(std::span<const float> next) const {
    const std::int32_t token = task_.prefix[static_cast<std::size_t>(length_)];
    const float log_probability = next[static_cast<std::size_t>(token)];
    if (!std::isfinite(log_probability)) {
        return {};
    }
    return {{live_.front().log_probability + at_most_certain(log_probability), 0, token}};
}

std::vector<SentenceBeam::Candidate> SentenceBeam::sampled_candidate(std::span<const float> next) const {
    std::vector<TokenChance> allowed;
    for (std::size_t token = 0; token < next.size(); ++token) {
        const auto id = static_cast<std::int32_t>(token);
        if (std::isfinite(next[token]) && may_follow(live_.front(), id)) {
            allowed.push_back({id, at_most_certain(next[token])});
        }
    }
    if (allowed.empty()) {
        return {};
    }
    const TokenChance& sampled =
        allowed[draw(allowed, *options_.sampling,
                     {.line = task_.line, .part = task_.part, .position = static_cast<std::uint32_t>(length_)})];
    return {{live_.front().log_probability + sampled.log_probability, 0, sampled.token}};
}

void SentenceBeam::advance(const NextTokens& next, std::int64_t first_row) {
    HEADSCOPE_CHECK(!done_, "advance() of a finished sentence");
    HEADSCOPE_CHECK(!wants_all(), "this step needs the probability of every token");
    HEADSCOPE_CHECK(first_row >= 0 && first_row + live() <= next.rows, "rows of a sentence are missing");
    take(certain() ? certain_candidates() : ranked_candidates(next, first_row));
}

void SentenceBeam::advance(const AllTokens& next, std::int64_t first_row) {
    HEADSCOPE_CHECK(!done_, "advance() of a finished sentence");
    HEADSCOPE_CHECK(first_row >= 0 && first_row + live() <= next.rows, "rows of a sentence are missing");
    if (certain()) {
        take(certain_candidates());
    } else if (length_ < static_cast<std::int64_t>(task_.prefix.size())) {
        take(forced_candidate(next.row(first_row)));
    } else if (options_.sampling) {
        take(sampled_candidate(next.row(first_row)));
    } else {
        take(ranked_candidates(best_of(next, first_row, live(), static_cast<int>(wanted(next.vocabulary))), 0));
    }
}

void SentenceBeam::take(std::vector<Candidate> candidates) {
    candidates_ = std::move(candidates);
    const std::vector<Live> before = std::exchange(live_, {});
    ++length_;
    const auto beam = static_cast<std::size_t>(options_.beam);
    for (taken_ = 0; taken_ < candidates_.size() && live_.size() < beam; ++taken_) {
        const Candidate& candidate = candidates_[taken_];
        const Live& parent = before[static_cast<std::size_t>(candidate.row)];
        Live child = child_of(parent, candidate);
        if (candidate.token == rules_.eos) {
            offer(finished(child, EndReason::EndOfSentence, text_of(parent.tokens)));
        } else if (stops(child.tokens)) {
            offer(finished(child, EndReason::Stop, before_stop(text_of(child.tokens))));
        } else {
            child.unwanted = unwanted_after(child.tokens);
            live_.push_back(std::move(child));
        }
    }
    if (live_.empty() && finished_.empty()) {
        // Only this sentence fails: the others of the batch continue.
        const Live& longest = before.front();
        offer({longest.tokens, longest.log_probability, longest.log_probability, EndReason::Unusable});
    }
    if (length_ == task_.limit) {
        cut();
    }
    done_ = live_.empty() || length_ == task_.limit || can_stop();
    if (!done_ && task_.on_step != nullptr && !task_.on_step(live_.front().tokens)) {
        cut();
        done_ = true;
    }
}

SentenceBeam::Live SentenceBeam::child_of(const Live& parent, const Candidate& candidate) const {
    Live child{parent.tokens, candidate.log_probability, candidate.row, parent.token_log_probabilities, {}};
    child.tokens.push_back(candidate.token);
    child.token_log_probabilities.push_back(candidate.log_probability - parent.log_probability);
    return child;
}

bool SentenceBeam::stops(const std::vector<std::int32_t>& tokens) const {
    if (options_.stop.empty()) {
        return false;
    }
    const std::string text = text_of(tokens);
    return before_stop(text) != text;
}

std::string SentenceBeam::before_stop(const std::string& text) const {
    std::size_t end = text.size();
    for (const std::string& stop : options_.stop) {
        end = std::min(end, text.find(stop));
    }
    return text.substr(0, end);
}

double SentenceBeam::score(double log_probability, std::int64_t length) const {
    return log_probability / length_penalty(length, options_);
}

Hypothesis SentenceBeam::finished(const Live& live, EndReason end, std::string text) const {
    return {live.tokens, live.log_probability, score(live.log_probability, length_),
            end,         std::move(text),      live.token_log_probabilities};
}

std::string SentenceBeam::text_of(const std::vector<std::int32_t>& tokens) const {
    const auto text = tokens.begin() + std::min(static_cast<std::ptrdiff_t>(task_.given), std::ssize(tokens));
    return rules_.text_of ? rules_.text_of(task_.prompt, {text, tokens.end()}) : std::string();
}

// A finished hypothesis with the same text, or finished_.end().
std::vector<Hypothesis>::iterator SentenceBeam::find_duplicate(const std::string& text) {
    return options_.n_best_duplicates || !rules_.text_of
               ? finished_.end()
               : std::find_if(finished_.begin(), finished_.end(),
                              [&](const Hypothesis& other) { return other.text == text; });
}

// Replacing a worse duplicate keeps the number of finished hypotheses, so the list never shrinks.
void SentenceBeam::offer(Hypothesis hypothesis) {
    if (const auto duplicate = find_duplicate(hypothesis.text); duplicate != finished_.end()) {
        if (duplicate->score >= hypothesis.score) {
            return;
        }
        finished_.erase(duplicate);
    }
    const auto place = std::find_if(finished_.begin(), finished_.end(),
                                    [&](const Hypothesis& other) { return hypothesis.score > other.score; });
    finished_.insert(place, std::move(hypothesis));
    if (finished_.size() > static_cast<std::size_t>(options_.n_best)) {
        finished_.pop_back();
    }
}

// The log probability of a live hypothesis only falls and its penalty only grows, up to that of the longest output. So
// its score can never exceed log probability / lp(limit), in either form. Rounding preserves that order, because it is
// monotonic.
bool SentenceBeam::can_stop() const {
    if (finished_.size() < static_cast<std::size_t>(options_.n_best)) {
        return false;
    }
    if (options_.beam == 1) {
        return true;
    }
    return options_.early_end && score(live_.front().log_probability, task_.limit) <= finished_.back().score;
}

void SentenceBeam::cut() {
    // All live hypotheses have the same length, so the likeliest has the highest score.
    for (const Live& live : live_) {
        std::string text = text_of(live.tokens);
        if (finished_.size() < static_cast<std::size_t>(options_.n_best) && find_duplicate(text) == finished_.end()) {
            finished_.push_back(finished(live, EndReason::Limit, std::move(text)));
        }
    }
}

const std::vector<Hypothesis>& SentenceBeam::hypotheses() const {
    HEADSCOPE_CHECK(done_, "an unfinished search has no best hypothesis");
    return finished_;
}

}  // namespace headscope
