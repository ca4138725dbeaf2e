#include "infer/beam_search.h"

#include <algorithm>

#include "support/check.h"

namespace headscope {

namespace {

// The rows of the next step: those of every unfinished sentence, side by side.
struct Rows {
    std::vector<std::int32_t> tokens;
    std::vector<std::int32_t> parents;
};

void append_live(Rows& rows, const SentenceBeam& sentence, std::int64_t first_row) {
    for (std::int64_t i = 0; i < sentence.live(); ++i) {
        rows.tokens.push_back(sentence.newest(i));
        rows.parents.push_back(static_cast<std::int32_t>(first_row + sentence.parent(i)));
    }
}

}  // namespace

std::vector<Hypothesis> search(Scorer& scorer, const std::vector<std::int64_t>& limits, std::int32_t bos,
                               const TokenRules& rules, const SearchOptions& options) {
    check_search_options(options);
    std::vector<SentenceBeam> sentences;
    Rows rows;
    for (const std::int64_t limit : limits) {
        rows.tokens.push_back(bos);
        rows.parents.push_back(static_cast<std::int32_t>(sentences.size()));
        sentences.emplace_back(options, rules, limit);
    }
    const int k = SentenceBeam::tokens_per_row(options, rules, scorer.vocabulary());
    while (!rows.tokens.empty()) {
        const NextTokens& next = scorer.step(rows.tokens, rows.parents, k);
        HEADSCOPE_CHECK(next.rows == static_cast<std::int64_t>(rows.tokens.size()) && next.k == k,
                        "the scorer answered for other rows than it was asked for");
        rows = {};
        std::int64_t first_row = 0;
        for (SentenceBeam& sentence : sentences) {
            if (sentence.done()) {
                continue;
            }
            const std::int64_t width = sentence.live();
            sentence.advance(next, first_row);
            if (!sentence.done()) {
                append_live(rows, sentence, first_row);
            }
            first_row += width;
        }
    }
    std::vector<Hypothesis> results;
    results.reserve(sentences.size());
    std::transform(sentences.begin(), sentences.end(), std::back_inserter(results),
                   [](const SentenceBeam& sentence) { return sentence.best(); });
    return results;
}

}  // namespace headscope
