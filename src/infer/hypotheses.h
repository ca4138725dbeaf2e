// The host's half of beam search: which hypotheses of one sentence go on, which are finished, and when to stop.
// Knows no device and no model. Paper 6.1.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "infer/next_tokens.h"
#include "infer/sampling.h"
#include "infer/search_options.h"
#include "model/config.h"

namespace headscope {

enum class EndReason : std::uint8_t {
    EndOfSentence,
    Limit,    // cut at the longest output; only where no hypothesis ended by itself
    Unusable  // the model gave no finite probability, and no hypothesis had ended
};

struct Hypothesis {
    std::vector<std::int32_t> tokens;  // with eos where it ended by it
    double log_probability = 0.0;
    double score = 0.0;
    EndReason end = EndReason::EndOfSentence;
    std::string text = {};  // as TokenRules::text_of gives it
};

// What to say of a hypothesis that ended as Unusable.
std::string unusable_message(const Hypothesis& hypothesis);

// Tokens that end an output, tokens that never stand in one, and how an output reads.
struct TokenRules {
    std::int32_t eos = 2;
    std::vector<std::int32_t> forbidden;  // pad, bos and (normally) unk, never eos
    // Of tokens without eos. Where it is set, n-best lists hold each text once (unless SearchOptions ask otherwise).
    std::function<std::string(const std::vector<std::int32_t>& tokens)> text_of = {};
};
TokenRules token_rules(const ModelConfig& config, bool allow_unknown);

// What is asked for one sentence.
struct SearchTask {
    std::int64_t limit = 1;                 // tokens of the longest output, eos included; at least 1
    std::vector<std::int32_t> prefix = {};  // what the output begins with, whatever the model thinks; below the limit
    std::uint32_t line = 0;                 // of the text, and part of the line: what draws depend on
    std::uint32_t part = 0;
    // Gets the likeliest unfinished hypothesis after each step; false ends the search as if the limit were reached.
    std::function<bool(const std::vector<std::int32_t>& tokens)> on_step = {};
};

// The beam of one sentence. It starts as one live row, the empty output.
class SentenceBeam {
public:
    SentenceBeam(const SearchOptions& options, const TokenRules& rules, SearchTask task);
    SentenceBeam(const SearchOptions& options, const TokenRules& rules, std::int64_t limit)
        : SentenceBeam(options, rules, SearchTask{.limit = limit}) {}

    // How many tokens of each row are enough for advance(): while nothing but the rules keeps a token out and there is
    // neither a prefix nor sampling, and in the next step.
    static int tokens_per_row(const SearchOptions& options, const TokenRules& rules, std::int64_t vocabulary);
    std::int64_t wanted(std::int64_t vocabulary) const;
    // Whether the next step needs the probability of any token, so that only the other advance() will do.
    bool wants_all() const;

    // Rows [first_row, first_row + live()) of `next` are this sentence's, in the order of its live hypotheses. The best
    // continuations of all rows compete: equal sums by smaller row, then smaller token. The first `beam` that do not
    // end live on; every end of sentence among or before them finishes a hypothesis.
    void advance(const NextTokens& next, std::int64_t first_row);
    // The same. Tokens of the prefix are taken whatever their probability, and counted with it.
    void advance(const AllTokens& next, std::int64_t first_row);

    // What the last advance() chose from, for those who show the search: the best continuations of all rows, best
    // first, and how many of them it took. A taken one either finished or, in order, lives on.
    struct Candidate {
        double log_probability = 0.0;  // of the whole hypothesis
        std::int64_t row = 0;          // among the live hypotheses before
        std::int32_t token = 0;
    };
    const std::vector<Candidate>& candidates() const { return candidates_; }
    std::size_t taken() const { return taken_; }

    bool done() const { return done_; }
    std::int64_t live() const { return static_cast<std::int64_t>(live_.size()); }
    // Of live hypothesis i: the row it continues, among the rows before the last advance(), and its newest token.
    std::int64_t parent(std::int64_t i) const { return live_[static_cast<std::size_t>(i)].parent; }
    std::int32_t newest(std::int64_t i) const { return live_[static_cast<std::size_t>(i)].tokens.back(); }

    // The highest score; equal scores by what finished first.
    const Hypothesis& best() const { return hypotheses().front(); }
    // The n_best highest of different texts. Where fewer ended by themselves, the likeliest that had to be cut follow.
    const std::vector<Hypothesis>& hypotheses() const;

private:
    struct Live {
        std::vector<std::int32_t> tokens;
        double log_probability = 0.0;
        std::int64_t parent = 0;
        std::vector<std::int32_t> unwanted;  // what may not come next
    };
    std::vector<std::int32_t> unwanted_after(const std::vector<std::int32_t>& tokens) const;
    bool may_follow(const Live& live, std::int32_t token) const;
    std::vector<Candidate> ranked_candidates(const NextTokens& next, std::int64_t first_row) const;
    std::vector<Candidate> forced_candidate(std::span<const float> next) const;
    std::vector<Candidate> drawn_candidate(std::span<const float> next) const;
    void take(std::vector<Candidate> candidates);
    void live_on(const Live& parent, const Candidate& candidate);
    double score(double log_probability, std::int64_t length) const;
    std::string text_of(const std::vector<std::int32_t>& tokens) const;
    void finish(const Live& parent, std::int32_t token, double log_probability);
    std::vector<Hypothesis>::iterator find_duplicate(const std::string& text);
    void offer(Hypothesis hypothesis);
    bool can_stop() const;
    void cut();

    SearchOptions options_;
    TokenRules rules_;
    SearchTask task_;
    std::int64_t length_ = 0;  // tokens of every live hypothesis
    bool done_ = false;
    std::vector<Live> live_;
    std::vector<Candidate> candidates_;
    std::size_t taken_ = 0;
    std::vector<Hypothesis> finished_;  // at most n_best, best first
};

// The tokens that, coming next, would end a sequence of `n` tokens that `written` holds already; each once, in order
// of what was written. n is 1 or more.
std::vector<std::int32_t> repeating_tokens(const std::vector<std::int32_t>& written, int n);

}  // namespace headscope
