// The host part of beam search (paper 6.1): which hypotheses of one sentence continue, which are finished, and when to
// stop. Independent of devices and models.
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
    Limit,    // cut at the maximum length; only if no hypothesis ended by itself
    Stop,     // contains one of SearchOptions::stop
    Unusable  // no finite probability, and no hypothesis had ended
};

struct Hypothesis {
    std::vector<std::int32_t> tokens;  // with the given ones, and eos if it ended with it
    double log_probability = 0.0;
    double score = 0.0;
    EndReason end = EndReason::EndOfSentence;
    std::string text = {};                             // from TokenRules::text_of
    std::vector<double> token_log_probabilities = {};  // of `tokens`
};

// The error message for a hypothesis that ended as Unusable.
std::string unusable_message(const Hypothesis& hypothesis);

// The token that ends an output, tokens that are never chosen, and how an output is decoded.
struct TokenRules {
    std::int32_t eos = 2;
    std::vector<std::int32_t> forbidden;        // pad, bos and (normally) unk, never eos
    std::vector<std::int32_t> suppressed = {};  // of probability 0, so never among the likeliest
    // Decodes tokens without eos, which follow a prompt. If set, n-best lists contain each text once (unless
    // SearchOptions::n_best_duplicates).
    std::function<std::string(const std::vector<std::int32_t>& prompt, const std::vector<std::int32_t>& tokens)>
        text_of = {};
};
TokenRules token_rules(const ModelConfig& config, bool allow_unknown);

// The search for one sentence.
struct SearchTask {
    std::int64_t limit = 1;                 // maximum output tokens including eos; at least 1
    std::vector<std::int32_t> prefix = {};  // forced beginning of the output; shorter than the limit
    std::size_t given = 0;                  // tokens of the prefix that have probability 1 and no text
    std::vector<std::int32_t> prompt = {};  // what the output continues, of a model without a source; empty: bos
    std::uint32_t line = 0;                 // line of the text, and part of the line: keys of random sampling
    std::uint32_t part = 0;
    // The tokens that must not come after these, which begin with the prefix; may be empty.
    std::function<std::vector<std::int32_t>(const std::vector<std::int32_t>& tokens)> forbidden_after = {};
    // Called with the likeliest unfinished hypothesis after each step; false ends the search as if the limit were
    // reached.
    std::function<bool(const std::vector<std::int32_t>& tokens)> on_step = {};
};

// The beam of one sentence. It starts as one live row, the empty output.
class SentenceBeam {
public:
    SentenceBeam(const SearchOptions& options, const TokenRules& rules, SearchTask task);
    SentenceBeam(const SearchOptions& options, const TokenRules& rules, std::int64_t limit)
        : SentenceBeam(options, rules, SearchTask{.limit = limit}) {}

    // How many tokens per row advance() needs without prefix and sampling, if only the rules forbid tokens.
    static int tokens_per_row(const SearchOptions& options, const TokenRules& rules, std::int64_t vocabulary);
    std::int64_t wanted(std::int64_t vocabulary) const;
    // Whether the next step needs AllTokens.
    bool wants_all() const;

    // Rows [first_row, first_row + live()) of `next` belong to this sentence, in the order of its live hypotheses. The
    // best continuations of all rows compete; ties are broken by smaller row, then smaller token. The first `beam` that
    // do not end stay alive; every eos among or before them finishes a hypothesis.
    void advance(const NextTokens& next, std::int64_t first_row);
    // The same. Prefix tokens are taken whatever their probability, which counts towards the sum except of given ones.
    void advance(const AllTokens& next, std::int64_t first_row);

    // The candidates of the last advance(), for displaying the search: the best continuations of all rows, best first,
    // and how many of them were taken. A taken candidate either finished or, in order, became a live hypothesis.
    struct Candidate {
        double log_probability = 0.0;  // of the whole hypothesis
        std::int64_t row = 0;          // among the previous live hypotheses
        std::int32_t token = 0;
    };
    const std::vector<Candidate>& candidates() const { return candidates_; }
    std::size_t taken() const { return taken_; }

    bool done() const { return done_; }
    std::int64_t live() const { return static_cast<std::int64_t>(live_.size()); }
    // For live hypothesis i: its parent row before the last advance(), and its newest token.
    std::int64_t parent(std::int64_t i) const { return live_[static_cast<std::size_t>(i)].parent; }
    std::int32_t newest(std::int64_t i) const { return live_[static_cast<std::size_t>(i)].tokens.back(); }

    // The highest score; of equal scores the one that finished first.
    const Hypothesis& best() const { return hypotheses().front(); }
    // The n_best highest with different texts. If fewer ended by themselves, the likeliest cut ones follow.
    const std::vector<Hypothesis>& hypotheses() const;

private:
    struct Live {
        std::vector<std::int32_t> tokens;
        double log_probability = 0.0;
        std::int64_t parent = 0;
        std::vector<double> token_log_probabilities;
        std::vector<std::int32_t> unwanted;  // tokens that must not come next
    };
    std::vector<std::int32_t> unwanted_after(const std::vector<std::int32_t>& tokens) const;
    bool may_follow(const Live& live, std::int32_t token) const;
    std::vector<Candidate> ranked_candidates(const NextTokens& next, std::int64_t first_row) const;
    bool certain() const;
    std::vector<Candidate> certain_candidates() const;
    std::vector<Candidate> forced_candidate(std::span<const float> next) const;
    std::vector<Candidate> sampled_candidate(std::span<const float> next) const;
    void take(std::vector<Candidate> candidates);
    Live child_of(const Live& parent, const Candidate& candidate) const;
    bool stops(const std::vector<std::int32_t>& tokens) const;
    std::string before_stop(const std::string& text) const;
    double score(double log_probability, std::int64_t length) const;
    std::string text_of(const std::vector<std::int32_t>& tokens) const;
    Hypothesis finished(const Live& live, EndReason end, std::string text) const;
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

// The tokens that would complete an n-gram which `written` already contains; each once, in order of occurrence. n >= 1.
std::vector<std::int32_t> repeating_tokens(const std::vector<std::int32_t>& written, int n);

}  // namespace headscope
