// The host part of beam search (paper 6.1): which hypotheses of one sentence continue, which are finished, and when to
// stop. Independent of devices and models.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "infer/next_tokens.h"
#include "infer/sampling.h"
#include "infer/search_options.h"
#include "infer/search_task.h"
#include "infer/stop_finder.h"

namespace headscope {

enum class EndReason : std::uint8_t {
    EndOfSentence,
    Limit,    // cut at the maximum length, where it scores higher than those that ended
    Stop,     // contains one of SearchOptions::stop
    Unusable  // no finite probability, and no hypothesis had ended
};

// The likeliest tokens of a step, best first, shared by all that chose among them.
using Alternatives = std::shared_ptr<const std::vector<TokenChance>>;

struct Hypothesis {
    std::vector<std::int32_t> tokens;  // with the given ones, and eos if it ended with it
    double log_probability = 0.0;
    double score = 0.0;
    EndReason end = EndReason::EndOfSentence;
    std::string text = {};                             // from TokenRules::text_of
    std::vector<double> token_log_probabilities = {};  // of `tokens`
    std::vector<Alternatives> alternatives = {};       // of `tokens`; empty unless SearchOptions::alternatives
};

// The error message for a hypothesis that ended as Unusable.
std::string unusable_message(const Hypothesis& hypothesis);

// The beam of one sentence. It starts as one live row, the empty output.
class SentenceBeam {
public:
    SentenceBeam(const SearchOptions& options, const TokenRules& rules, SearchTask task);
    SentenceBeam(const SearchOptions& options, const TokenRules& rules, std::int64_t limit)
        : SentenceBeam(options, rules, SearchTask{.limit = limit}) {}

    // How many tokens per row advance() needs without prefix and sampling, if the rules alone forbid tokens and no row
    // without a piece is among the likeliest.
    static int tokens_per_row(const SearchOptions& options, const TokenRules& rules, std::int64_t vocabulary);
    // How many continuations compete, so that `beam` stay alive even if all ends of each are among them.
    static std::size_t most_candidates(const SearchOptions& options, const TokenRules& rules);
    // What tokens_per_row() returns, and the tokens that are forbidden next.
    std::int64_t wanted(std::int64_t vocabulary) const;
    // The same with all rows without a piece, which are rarely among the likeliest.
    std::int64_t most_wanted(std::int64_t vocabulary) const;
    // Whether advance(next, first_row) would find enough tokens that may be written.
    bool enough(const NextTokens& next, std::int64_t first_row) const;
    // Whether the next step needs AllTokens.
    bool wants_all() const;

    // Rows [first_row, first_row + live()) of `next` belong to this sentence, in the order of its live hypotheses. The
    // best continuations of all rows compete; ties are broken by smaller row, then smaller token. The first `beam` that
    // do not end stay alive. Every end among or before them finishes a hypothesis, or, unless the search is exact,
    // every one of the best `beam` continuations.
    void advance(const NextTokens& next, std::int64_t first_row);
    // The same. Prefix tokens are taken whatever their probability, which counts towards the sum except of given ones.
    void advance(const AllTokens& next, std::int64_t first_row);

    // The candidates of the last advance(), for displaying the search: the best continuations of all rows, best first,
    // and how many of them were taken. A taken candidate either finished or, in order, became a live hypothesis, or was
    // passed over.
    struct Candidate {
        double log_probability = 0.0;  // of the whole hypothesis
        std::int64_t row = 0;          // among the previous live hypotheses
        std::int32_t token = 0;
        bool passed = false;  // it ends, but too far behind: neither finished nor live
    };
    const std::vector<Candidate>& candidates() const { return candidates_; }
    std::size_t taken() const { return taken_; }

    const SearchOptions& options() const { return options_; }
    bool done() const { return done_; }
    // How many more tokens the output may have.
    std::int64_t remaining() const { return task_.limit - length_; }
    std::int64_t live() const { return static_cast<std::int64_t>(live_.size()); }
    // For live hypothesis i: its parent row before the last advance(), and its newest token.
    std::int64_t parent(std::int64_t i) const { return live_[static_cast<std::size_t>(i)].parent; }
    std::int32_t newest(std::int64_t i) const { return live_[static_cast<std::size_t>(i)].tokens.back(); }

    // An output so far: the likeliest unfinished hypothesis, or the best one once it is done.
    struct Written {
        std::span<const std::int32_t> tokens;
        std::span<const double> log_probabilities;
        std::span<const Alternatives> alternatives;
    };
    Written written() const;
    const SearchTask& task() const { return task_; }

    // The highest score; of equal scores the one that finished first.
    const Hypothesis& best() const { return hypotheses().front(); }
    // The n_best highest with different texts. A search that reached the limit has cut hypotheses among them. There are
    // fewer if an inexact search found some texts twice.
    const std::vector<Hypothesis>& hypotheses() const;

private:
    struct Live {
        std::vector<std::int32_t> tokens;
        double log_probability = 0.0;
        std::int64_t parent = 0;
        std::vector<double> token_log_probabilities;
        std::vector<std::int32_t> unwanted;  // tokens that must not come next
        std::vector<Alternatives> alternatives;
    };
    // What Live::alternatives of the rows' children get.
    void list_alternatives(const NextTokens& next, std::int64_t first_row);
    void list_alternatives(const AllTokens& next, std::int64_t first_row);
    bool may_follow(const Live& live, std::int32_t token) const;
    std::vector<Candidate> ranked_candidates(const NextTokens& next, std::int64_t first_row) const;
    bool weighs() const;
    std::vector<double> weighed(const AllTokens& next, std::int64_t row, std::int64_t first_row) const;
    std::vector<Candidate> weighed_candidates(const AllTokens& next, std::int64_t first_row) const;
    std::vector<Candidate> best_candidates(std::vector<Candidate> candidates) const;
    bool certain() const;
    std::vector<Candidate> certain_candidates() const;
    std::vector<Candidate> forced_candidate(std::span<const float> next) const;
    std::vector<Candidate> sampled_candidate(std::span<const double> next) const;
    void take(std::vector<Candidate> candidates);
    Live child_of(const Live& parent, const Candidate& candidate) const;
    bool stops(const std::vector<std::int32_t>& tokens) const;
    double score(double log_probability, std::int64_t length) const;
    std::string text_of(const std::vector<std::int32_t>& tokens) const;
    Hypothesis finished(const Live& live, EndReason end, std::string text) const;
    std::vector<Hypothesis>::iterator find_duplicate(const std::string& text);
    void offer(Hypothesis hypothesis);
    bool exact() const { return options_.stopping == Stopping::Exact || options_.beam == 1; }
    std::size_t most_finished() const;
    bool can_stop() const;
    void cut();
    void keep_n_best();

    SearchOptions options_;
    TokenRules rules_;
    SearchTask task_;
    std::unique_ptr<StopFinder> stop_finder_;  // of an output without alternatives; null: each text is decoded again
    std::int64_t length_ = 0;                  // tokens of every live hypothesis
    bool done_ = false;
    std::vector<Live> live_;
    std::vector<Alternatives> alternatives_;  // of each live row in this step
    std::vector<Candidate> candidates_;
    std::size_t taken_ = 0;
    std::vector<Hypothesis> finished_;  // at most most_finished(), best first
};

}  // namespace headscope
