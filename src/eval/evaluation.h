// Scores of a set of translations.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "eval/bleu.h"
#include "eval/chrf.h"
#include "eval/force_references.h"
#include "eval/rouge.h"

namespace headscope {

struct Scores {
    std::size_t sentences = 0;
    BleuScore bleu;
    ChrfScore chrf;
    RougeScore rouge;
    std::size_t exact_matches = 0;
};

// Scores of the sentences whose sources have `least` to `most` words.
struct LengthScores {
    std::size_t least = 0;
    std::optional<std::size_t> most;  // std::nullopt: no limit
    Scores scores;
};

struct Evaluation {
    Scores scores;
    std::vector<LengthScores> by_length;     // lengths that occur
    std::optional<ForcedReferences> forced;  // if there is a model
    std::int64_t lines_left_out = 0;         // with an empty side
};

// references[r][s]: one or more references per sentence. `options` applies to BLEU; its case also to chrF. `stemmed`:
// see corpus_rouge().
Scores score_translations(const std::vector<std::string>& translations,
                          const std::vector<std::vector<std::string>>& references, const BleuOptions& options,
                          bool stemmed = false);

// The same for sources of up to 5, 10, 15, 20, 30, 40 and more words.
std::vector<LengthScores> score_by_length(const std::vector<std::string>& sources,
                                          const std::vector<std::string>& translations,
                                          const std::vector<std::vector<std::string>>& references,
                                          const BleuOptions& options, bool stemmed = false);

// The number of translations that equal one of their references byte by byte, except for ASCII white space at both
// ends. references[r][s]. Error with both numbers if the line counts differ.
std::size_t count_exact_matches(const std::vector<std::string>& translations,
                                const std::vector<std::vector<std::string>>& references);

}  // namespace headscope
