// What is asked of a search, and what its scores are divided by.
#pragma once

#include <cstdint>
#include <optional>

namespace headscope {

// What a log probability is divided by, L being the output's tokens, its end included.
enum class LengthPenaltyForm : std::uint8_t {
    Gnmt,  // ((5 + L) / 6)^alpha, Wu et al. (2016), equation 14
    Power  // L^alpha; with alpha 1 the mean log probability of a token
};

// Drawing the next token by chance, instead of searching for the likeliest output.
struct Sampling {
    double temperature = 1.0;  // log probabilities are divided by it first: below 1 favours what is likely
    int top_k = 0;             // then only so many of the likeliest are drawn from; 0: all
    double top_p = 1.0;        // of these only the fewest of the likeliest that add up to this share
    std::uint64_t seed = 1;

    bool operator==(const Sampling&) const = default;
};

struct SearchOptions {
    // Each row asks for 2 * beam tokens and those that may not be chosen, and a device ranks at most 64.
    static constexpr int kMaxBeam = 30;
    // Far past any use: more is a slip of the pen. With a larger alpha every score would be 0.
    static constexpr double kMaxLengthPenalty = 10.0;
    static constexpr std::int64_t kMaxExtra = 100'000;
    static constexpr int kMaxNoRepeatNgram = 1000;
    static constexpr std::int64_t kMaxMinLength = 100'000;

    int beam = 4;                 // 1 is greedy: the likeliest token each time, ended by the first end of sentence
    double length_penalty = 0.6;  // alpha of the length penalty
    std::int64_t max_extra = 50;  // the output is at most this much longer than the input, both with end of sentence
    bool early_end = true;        // stop when no unfinished hypothesis can still win; never changes the result
    bool allow_unknown = false;   // the unknown piece has no text, so it is not chosen
    LengthPenaltyForm length_penalty_form = LengthPenaltyForm::Gnmt;
    int n_best = 1;                      // hypotheses that are handed out, at most `beam`
    bool n_best_duplicates = false;      // hand out hypotheses that read the same, too
    int no_repeat_ngram = 0;             // no sequence of so many tokens twice in an output; 0: any
    std::int64_t min_length = 1;         // tokens before the end, as far as the limit has room; 0: none
    std::optional<Sampling> sampling{};  // with a beam of 1

    bool operator==(const SearchOptions&) const = default;
};

// Throws Error for what is out of range, and for n-best lists and sampling with a beam that does not fit them.
void check_search_options(const SearchOptions& options);

// lp(length); score = log probability / lp. Gnmt's form where none is named.
double length_penalty(std::int64_t length, double alpha, LengthPenaltyForm form = LengthPenaltyForm::Gnmt);
double length_penalty(std::int64_t length, const SearchOptions& options);

}  // namespace headscope
