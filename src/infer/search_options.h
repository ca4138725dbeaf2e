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

inline constexpr int kAnyNumber = 2'147'483'647;  // of a count that has no other limit
inline constexpr double kAny64 = 0x1p64;          // of 64 bits
inline constexpr std::int64_t kMaxMinLength = 100'000;
inline constexpr double kMinPenalty = 0.001, kMaxPenalty = 1000.0;

using TokenList = std::vector<std::int32_t>;
using TokenLists = std::vector<TokenList>;

// A member for each row of decoding_rows.h, which explains it.
struct SearchOptions {
    static constexpr int kMaxBeam = 30;  // each row needs 2 * beam tokens plus the forbidden ones; a device ranks 64
    // Far beyond any use, to catch typos. A larger alpha would make every score 0.
    static constexpr double kMaxLengthPenalty = 10.0;
    static constexpr std::int64_t kMaxExtra = 100'000;

#define HEADSCOPE_SEARCH_OPTION(Type, member, initial, ...) Type member = initial;
#include "infer/decoding_rows.h"
    bool early_end = true;  // of Stopping::Exact: false searches on; no better result, if no option raises scores
    Languages languages{};

    bool operator==(const SearchOptions&) const = default;
};

// Whether lines with these options may be searched in one batch. All other options are a line's own.
bool share_batch(const SearchOptions& one, const SearchOptions& other);

// The paper's search, or greedy completion for a causal language model.
SearchOptions default_search(Architecture family);

// Error for values out of range, which names the key, and for n-best or sampling with an unsuitable beam.
void check_search_options(const SearchOptions& options);

// The maximum number of output tokens for a source of `source_length` tokens, of which a language model has 0.
std::int64_t output_limit(const SearchOptions& options, std::int64_t source_length);

// lp(length); score = log probability / lp.
double length_penalty(std::int64_t length, double alpha, LengthPenaltyForm form = LengthPenaltyForm::Gnmt);
double length_penalty(std::int64_t length, const SearchOptions& options);

}  // namespace headscope
