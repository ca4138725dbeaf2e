// All that is said of a set of translations.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "eval/bleu.h"
#include "eval/chrf.h"
#include "eval/force_references.h"

namespace headscope {

struct Scores {
    std::size_t sentences = 0;
    BleuScore bleu;
    ChrfScore chrf;
    std::size_t exact_matches = 0;
};

// The sentences whose sources have `least` to `most` words between white space.
struct LengthScores {
    std::size_t least = 0;
    std::optional<std::size_t> most;  // none: any number
    Scores scores;
};

struct Evaluation {
    Scores scores;
    std::vector<LengthScores> by_length;     // lengths that occur
    std::optional<ForcedReferences> forced;  // where there is a model
    std::int64_t lines_left_out = 0;         // with an empty side
};

// references[r][s]: several references a sentence, at least one. Case and tokens count for BLEU as `options` say; case
// for chrF, too.
Scores score_translations(const std::vector<std::string>& translations,
                          const std::vector<std::vector<std::string>>& references, const BleuOptions& options);

// The same for sources of up to 5, 10, 15, 20, 30, 40 and more words.
std::vector<LengthScores> score_by_length(const std::vector<std::string>& sources,
                                          const std::vector<std::string>& translations,
                                          const std::vector<std::vector<std::string>>& references,
                                          const BleuOptions& options);

// Translations that equal one of their references byte by byte, but for white space (ASCII) at both ends of a line.
// references[r][s]. Error, naming both numbers, when there are not as many.
std::size_t count_exact_matches(const std::vector<std::string>& translations,
                                const std::vector<std::vector<std::string>>& references);

}  // namespace headscope
