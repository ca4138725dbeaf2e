// The host's half of beam search: which hypotheses of one sentence go on, which are finished, and when to stop.
// Knows no device and no model. Paper 6.1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/config.h"

namespace headscope {

struct SearchOptions {
    // Each row asks for 2 * beam tokens and those that may not be chosen, and a device ranks at most 64.
    static constexpr int kMaxBeam = 30;

    int beam = 4;                 // 1 is greedy: the likeliest token each time, ended by the first end of sentence
    double length_penalty = 0.6;  // alpha of lp(L) = ((5 + L) / 6)^alpha, Wu et al. (2016), equation 14
    std::int64_t max_extra = 50;  // the output is at most this much longer than the input, both with end of sentence
    bool early_end = true;        // stop when no unfinished hypothesis can still win; never changes the result
    bool allow_unknown = false;   // the unknown piece has no text, so it is not chosen

    bool operator==(const SearchOptions&) const = default;
};

// Throws Error for a beam outside [1, kMaxBeam] or negative numbers.
void check_search_options(const SearchOptions& options);

// lp(length); score = log probability / lp.
double length_penalty(std::int64_t length, double alpha);

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
};

// What to say of a hypothesis that ended as Unusable.
std::string unusable_message(const Hypothesis& hypothesis);

// Tokens that end an output and tokens that never stand in one.
struct TokenRules {
    std::int32_t eos = 2;
    std::vector<std::int32_t> forbidden;  // pad, bos and (normally) unk, never eos
};
TokenRules token_rules(const ModelConfig& config, bool allow_unknown);

// The likeliest next tokens of some rows, best first: [rows, k] each.
struct NextTokens {
    std::int64_t rows = 0;
    int k = 0;
    std::vector<float> log_probabilities;
    std::vector<std::int32_t> tokens;
};

// The beam of one sentence. It starts as one live row, the empty output.
class SentenceBeam {
public:
    // `limit`: tokens of the longest output, eos included; at least 1.
    SentenceBeam(const SearchOptions& options, const TokenRules& rules, std::int64_t limit);

    // How many tokens of each row are enough for advance().
    static int tokens_per_row(const SearchOptions& options, const TokenRules& rules, std::int64_t vocabulary);

    // Rows [first_row, first_row + live()) of `next` are this sentence's, in the order of its live hypotheses. The best
    // continuations of all rows compete: equal sums by smaller row, then smaller token. The first `beam` that do not
    // end live on; every end of sentence among or before them finishes a hypothesis.
    void advance(const NextTokens& next, std::int64_t first_row);

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
    const Hypothesis& best() const;

private:
    struct Live {
        std::vector<std::int32_t> tokens;
        double log_probability = 0.0;
        std::int64_t parent = 0;
    };
    std::vector<Candidate> ranked_candidates(const NextTokens& next, std::int64_t first_row) const;
    void finish(const Live& parent, std::int32_t token, double log_probability);
    void offer(Hypothesis hypothesis);
    bool can_stop() const;
    void cut();

    SearchOptions options_;
    TokenRules rules_;
    std::int64_t limit_;
    std::int64_t length_ = 0;  // tokens of every live hypothesis
    bool done_ = false;
    bool has_finished_ = false;
    std::vector<Live> live_;
    std::vector<Candidate> candidates_;
    std::size_t taken_ = 0;
    Hypothesis best_;
};

}  // namespace headscope
