#include "infer/hypotheses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "infer/forbidden_tokens.h"
#include "support/check.h"

namespace headscope {

std::string unusable_message(const Hypothesis& hypothesis) {
    return fmt::format(
        "the model's probabilities for token {} of an output are NaN or infinite: its weights are damaged, "
        "or training diverged",
        hypothesis.tokens.size() + 1);
}

SentenceBeam::SentenceBeam(const SearchOptions& options, const TokenRules& rules, SearchTask task)
    : options_(options), rules_(rules), task_(std::move(task)), live_(1) {
    HEADSCOPE_CHECK(task_.limit >= 1, fmt::format("an output limit of {} leaves no room for eos", task_.limit));
    HEADSCOPE_CHECK(
        static_cast<std::int64_t>(task_.prefix.size()) < task_.limit && task_.given <= task_.prefix.size(),
        fmt::format("a prefix of {} tokens does not fit an output of {}", task_.prefix.size(), task_.limit));
    if (options_.beam == 1 && !options_.stop.empty() && rules_.tokenizer != nullptr) {
        stop_finder_ = std::make_unique<StopFinder>(*rules_.tokenizer, task_.prompt, options_.stop);
    }
    live_.front().unwanted = forbidden_after(options_, rules_, task_, {});
}

void SentenceBeam::take(std::vector<Candidate> candidates) {
    candidates_ = std::move(candidates);
    const std::vector<Live> before = std::exchange(live_, {});
    ++length_;
    const auto beam = static_cast<std::size_t>(options_.beam);
    for (taken_ = 0; taken_ < candidates_.size() && live_.size() < beam; ++taken_) {
        Candidate& candidate = candidates_[taken_];
        const Live& parent = before[static_cast<std::size_t>(candidate.row)];
        Live child = child_of(parent, candidate);
        const bool ends = rules_.ends(candidate.token);
        const bool stopped = !ends && stops(child.tokens);
        if (!exact() && taken_ >= beam && (ends || stopped)) {
            candidate.passed = true;
        } else if (ends) {
            offer(finished(child, EndReason::EndOfSentence, text_of(parent.tokens)));
        } else if (stopped) {
            const std::string text = text_of(child.tokens);
            offer(finished(child, EndReason::Stop, text.substr(0, find_first(text, options_.stop))));
        } else {
            child.unwanted = forbidden_after(options_, rules_, task_, child.tokens);
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
    if (done_) {
        keep_n_best();
    }
}

SentenceBeam::Live SentenceBeam::child_of(const Live& parent, const Candidate& candidate) const {
    Live child{parent.tokens,      candidate.log_probability, candidate.row, parent.token_log_probabilities, {},
               parent.alternatives};
    if (options_.alternatives > 0) {
        child.alternatives.push_back(alternatives_[static_cast<std::size_t>(candidate.row)]);
    }
    child.tokens.push_back(candidate.token);
    child.token_log_probabilities.push_back(candidate.log_probability - parent.log_probability);
    return child;
}

bool SentenceBeam::stops(const std::vector<std::int32_t>& tokens) const {
    if (options_.stop.empty()) {
        return false;
    }
    if (stop_finder_ != nullptr && finished_.empty()) {  // the first of several continuations of an output
        return stop_finder_->finds(std::span(tokens).subspan(std::min(task_.given, tokens.size())));
    }
    const std::string text = text_of(tokens);
    return find_first(text, options_.stop) < text.size();
}

double SentenceBeam::score(double log_probability, std::int64_t length) const {
    return log_probability / length_penalty(length, options_);
}

Hypothesis SentenceBeam::finished(const Live& live, EndReason end, std::string text) const {
    return {live.tokens,
            live.log_probability,
            score(live.log_probability, length_),
            end,
            std::move(text),
            live.token_log_probabilities,
            live.alternatives};
}

std::string SentenceBeam::text_of(const std::vector<std::int32_t>& tokens) const {
    const auto text = tokens.begin() + std::min(static_cast<std::ptrdiff_t>(task_.given), std::ssize(tokens));
    return rules_.text_of ? rules_.text_of(task_.prompt, {text, tokens.end()}) : std::string();
}

// A finished hypothesis with the same text, or finished_.end(). An inexact search counts them, too.
std::vector<Hypothesis>::iterator SentenceBeam::find_duplicate(const std::string& text) {
    return options_.n_best_duplicates || !rules_.text_of || !exact()
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
    if (finished_.size() > most_finished()) {
        finished_.pop_back();
    }
}

std::size_t SentenceBeam::most_finished() const {
    return static_cast<std::size_t>(exact() ? options_.n_best : options_.beam);
}

// The log probability of a live hypothesis only falls and its penalty only grows, up to that of the longest output. So
// its score can never exceed log probability / lp(limit), in either form; with a negative exponent the penalty falls,
// and the bound is that of its present length. Rounding preserves that order, because it is monotonic. Options that
// raise probabilities can break the bound.
bool SentenceBeam::can_stop() const {
    if (finished_.size() < most_finished()) {
        return false;
    }
    if (options_.beam == 1 || options_.stopping == Stopping::Full) {
        return true;
    }
    const bool longest = options_.length_penalty > 0.0 && options_.stopping != Stopping::AtPresent;
    return (options_.early_end || !exact()) &&
           score(live_.front().log_probability, longest ? task_.limit : length_) <= finished_.back().score;
}

// What is alive competes with what has ended.
void SentenceBeam::cut() {
    for (const Live& live : live_) {
        offer(finished(live, EndReason::Limit, text_of(live.tokens)));
    }
}

void SentenceBeam::keep_n_best() {
    if (exact()) {
        return;  // it kept no others
    }
    std::vector<Hypothesis> kept;
    for (Hypothesis& one : finished_) {
        const auto same = [&](const Hypothesis& other) { return other.text == one.text; };
        const bool repeats =
            rules_.text_of && !options_.n_best_duplicates && std::any_of(kept.begin(), kept.end(), same);
        if (!repeats && kept.size() < static_cast<std::size_t>(options_.n_best)) {
            kept.push_back(std::move(one));
        }
    }
    finished_ = std::move(kept);
}

SentenceBeam::Written SentenceBeam::written() const {
    if (done_) {
        return {best().tokens, best().token_log_probabilities, best().alternatives};
    }
    const Live& live = live_.front();
    return {live.tokens, live.token_log_probabilities, live.alternatives};
}

const std::vector<Hypothesis>& SentenceBeam::hypotheses() const {
    HEADSCOPE_CHECK(done_, "an unfinished search has no best hypothesis");
    return finished_;
}

}  // namespace headscope
