// Search options and the length penalty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/frame_of_config.h"

namespace headscope {

// The divisor of log probabilities, where L is the number of output tokens including the end.
enum class LengthPenaltyForm : std::uint8_t {
    Gnmt,  // ((5 + L) / 6)^alpha, Wu et al. (2016), equation 14
    Power  // L^alpha; alpha 1 gives the mean log probability per token
};

// When a beam search stops. The last three are those of Hugging Face: it goes on until `beam` hypotheses have ended and
// the best unfinished one is not better than the worst of them.
enum class Stopping : std::uint8_t {
    Exact,      // as soon as no unfinished hypothesis can win, if no option makes a token's score higher
    Full,       // as soon as `beam` hypotheses have ended: early_stopping true
    AtPresent,  // the unfinished one is scored as if it ended at its present length: false
    AtLongest   // or at the longest length, if the length penalty favours it: "never"
};

// Added to the score of the last of some tokens where it follows the others.
struct SequenceBias {
    std::vector<std::int32_t> tokens;
    double bias = 0.0;

    bool operator==(const SequenceBias&) const = default;
};

// The scores of the ends grow from the first token after `start` tokens of output: by |score| * (factor^n - 1) for the
// n-th.
struct EndGrowth {
    std::int64_t start = 0;
    double factor = 1.0;

    bool operator==(const EndGrowth&) const = default;
};

// Samples the next token randomly instead of searching for the likeliest output.
struct Sampling {
    double temperature = 1.0;  // divides log probabilities first: below 1 favours likely tokens
    int top_k = 0;             // then keeps only this many of the likeliest tokens; 0: all
    double top_p = 1.0;        // of these keeps the fewest likeliest that add up to this share
    std::uint64_t seed = 1;

    bool operator==(const Sampling&) const = default;
};

struct SearchOptions {
    // Each row needs 2 * beam tokens plus the forbidden ones, and a device ranks at most 64.
    static constexpr int kMaxBeam = 30;
    // Far beyond any use, to catch typos. A larger alpha would make every score 0.
    static constexpr double kMaxLengthPenalty = 10.0;
    static constexpr std::int64_t kMaxExtra = 100'000;
    static constexpr int kMaxNoRepeatNgram = 1000;
    static constexpr std::int64_t kMaxMinLength = 100'000;
    static constexpr std::int64_t kMaxLength = 1'000'000;
    static constexpr double kMaxFactor = 1000.0;
    static constexpr int kMaxIterations = 1000;
    static constexpr int kMaxLengthCandidates = 64;
    static constexpr double kMaxRepetitionPenalty = 1000.0;
    static constexpr double kMaxBias = 1e6;
    static constexpr int kMaxAlternatives = 20;

    int beam = 4;                 // 1 is greedy search
    double length_penalty = 0.6;  // alpha; below 0 it favours short outputs
    // The longest output is the smallest of these. Tokens include the end and what Frame puts around pieces.
    std::int64_t max_extra = 50;  // output tokens beyond those of the input
    std::int64_t max_length = 0;  // output tokens, with those of a prompt; 0: any number
    double max_factor = 0.0;      // output tokens for each of the input; 0: any number
    bool force_end = false;       // an output at the limit ends there, with eos, which has probability 1
    bool early_end = true;        // of Stopping::Exact: false searches on; no better result, if no option raises scores
    bool allow_unknown = false;   // the unknown piece has no text
    std::vector<std::vector<std::int32_t>> bad_words{};  // sequences that no output contains
    LengthPenaltyForm length_penalty_form = LengthPenaltyForm::Gnmt;
    int n_best = 1;                      // hypotheses to return, at most `beam`
    bool n_best_duplicates = false;      // also return hypotheses with the same text
    int no_repeat_ngram = 0;             // forbid n-grams of this size from repeating; 0: allow
    std::int64_t min_length = 1;         // minimum pieces before eos, as far as the limit allows; 0: none
    std::optional<Sampling> sampling{};  // with a beam of 1
    std::vector<std::string> stop{};     // an output ends when its text contains one of these
    Languages languages{};
    // Mask-predict only (infer/mask_predict.h). Of the options above, it obeys the length limits, allow_unknown and
    // languages.
    int iterations = 10;
    int length_candidates = 5;
    Stopping stopping = Stopping::Exact;     // of a beam above 1
    std::vector<std::int32_t> ends{};        // the tokens that end an output; empty: eos
    bool allow_start = false;                // the decoder's start may be written
    std::int64_t min_total = 0;              // like min_length, with a prompt's and given tokens; to the limit
    int no_source_ngram = 0;                 // forbid n-grams of this size that the source has; 0: allow
    std::vector<std::int32_t> bad_first{};   // tokens that no output begins with
    double repetition_penalty = 1.0;         // of tokens that were read as a prompt or written
    double source_repetition_penalty = 1.0;  // above 1 favours the source's tokens
    std::vector<SequenceBias> sequence_bias{};
    std::optional<EndGrowth> end_growth{};
    bool renormalize = false;  // forbidden tokens leave the softmax

    int alternatives = 0;  // likeliest tokens to report beside each one that is written
    bool echo = false;     // also report the probabilities of a prompt's tokens, of a causal language model

    bool operator==(const SearchOptions&) const = default;
};

// Whether lines with these options may be searched in one batch. All other options are a line's own.
bool share_batch(const SearchOptions& one, const SearchOptions& other);

// The paper's search, or greedy completion for a causal language model.
SearchOptions default_search(Architecture family);

// Error for values out of range, and for n-best or sampling with an unsuitable beam.
void check_search_options(const SearchOptions& options);

// The maximum number of output tokens for a source of `source_length` tokens, of which a language model has 0.
std::int64_t output_limit(const SearchOptions& options, std::int64_t source_length);

// lp(length); score = log probability / lp.
double length_penalty(std::int64_t length, double alpha, LengthPenaltyForm form = LengthPenaltyForm::Gnmt);
double length_penalty(std::int64_t length, const SearchOptions& options);

}  // namespace headscope
