#include "eval/chrf.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "eval/line_counts.h"
#include "eval/white_space.h"
#include "support/check.h"
#include "support/utf8.h"
#include "text/case.h"

namespace headscope {

namespace {

constexpr std::size_t kOrder = 6;
constexpr double kBetaSquared = 2.0 * 2.0;

// N-gram counts of one order: per side, and common to both.
struct Matches {
    std::int64_t translation = 0, reference = 0, both = 0;
};
using Statistics = std::array<Matches, kOrder>;

// All characters except white space. An invalid UTF-8 byte becomes a code point past the last of Unicode.
std::u32string characters(const std::string& line, bool lowercase) {
    constexpr char32_t kBytes = 0x110000;
    std::u32string all;
    for (const std::string& word : split_words(lowercase ? lower_case(line) : line)) {
        for (std::size_t at = 0; at < word.size();) {
            const auto byte = static_cast<unsigned char>(word[at]);
            all += next_code_point(word, at).value_or(kBytes + byte);
        }
    }
    return all;
}

// All character n-grams, sorted so that equal ones are adjacent.
std::vector<std::u32string_view> sorted_runs(std::u32string_view text, std::size_t order) {
    std::vector<std::u32string_view> runs;
    for (std::size_t first = 0; first + order <= text.size(); ++first) {
        runs.push_back(text.substr(first, order));
    }
    std::sort(runs.begin(), runs.end());
    return runs;
}

// The number of common n-grams, each counted as often as on the side with fewer.
std::int64_t count_common(const std::vector<std::u32string_view>& a, const std::vector<std::u32string_view>& b) {
    std::int64_t common = 0;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const int order = a[i].compare(b[j]);
        common += order == 0 ? 1 : 0;
        i += order <= 0 ? 1 : 0;
        j += order >= 0 ? 1 : 0;
    }
    return common;
}

using Runs = std::array<std::vector<std::u32string_view>, kOrder>;

Runs runs_of(std::u32string_view text) {
    Runs runs;
    for (std::size_t order = 0; order < kOrder; ++order) {
        runs[order] = sorted_runs(text, order + 1);
    }
    return runs;
}

Statistics compare(const Runs& translation, const Runs& reference) {
    Statistics statistics;
    for (std::size_t order = 0; order < kOrder; ++order) {
        // N-grams of an order that is missing in the reference do not count against the translation.
        const bool any = !reference[order].empty();
        statistics[order] = {any ? static_cast<std::int64_t>(translation[order].size()) : 0,
                             static_cast<std::int64_t>(reference[order].size()),
                             count_common(translation[order], reference[order])};
    }
    return statistics;
}

// The F score of mean precision and mean recall over the orders that both sides have.
double f_score(const Statistics& statistics) {
    double precision = 0.0;
    double recall = 0.0;
    int orders = 0;
    for (const Matches& matches : statistics) {
        if (matches.translation > 0 && matches.reference > 0) {
            precision += static_cast<double>(matches.both) / static_cast<double>(matches.translation);
            recall += static_cast<double>(matches.both) / static_cast<double>(matches.reference);
            ++orders;
        }
    }
    if (precision + recall == 0.0) {
        return 0.0;
    }
    precision /= orders;
    recall /= orders;
    return 100.0 * (1.0 + kBetaSquared) * precision * recall / (kBetaSquared * precision + recall);
}

}  // namespace

ChrfScore corpus_chrf(const std::vector<std::string>& translations,
                      const std::vector<std::vector<std::string>>& references, bool lowercase) {
    HEADSCOPE_CHECK(!references.empty(), "chrF needs a reference");
    check_line_counts(translations, references);
    Statistics sums{};
    for (std::size_t sentence = 0; sentence < translations.size(); ++sentence) {
        const std::u32string translation = characters(translations[sentence], lowercase);
        const Runs runs = runs_of(translation);
        Statistics best{};
        double best_score = -1.0;
        for (const std::vector<std::string>& reference : references) {
            const std::u32string text = characters(reference[sentence], lowercase);
            const Statistics statistics = compare(runs, runs_of(text));
            if (const double score = f_score(statistics); score > best_score) {
                best_score = score;
                best = statistics;
            }
        }
        for (std::size_t order = 0; order < kOrder; ++order) {
            sums[order].translation += best[order].translation;
            sums[order].reference += best[order].reference;
            sums[order].both += best[order].both;
        }
    }
    return {f_score(sums), static_cast<int>(references.size()), lowercase};
}

std::string ChrfScore::signature() const {
    return fmt::format("nrefs:{}|case:{}|eff:yes|nc:{}|nw:0|space:no", references, lowercase ? "lc" : "mixed", kOrder);
}

}  // namespace headscope
