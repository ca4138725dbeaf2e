#include "eval/evaluation.h"

#include <algorithm>
#include <array>

#include "eval/line_counts.h"
#include "eval/white_space.h"
#include "support/check.h"

namespace headscope {

namespace {

std::string_view trimmed(std::string_view line) {
    constexpr std::string_view kSpaces = " \t\r\n\v\f";
    const std::size_t first = line.find_first_not_of(kSpaces);
    return first == std::string_view::npos ? std::string_view()
                                           : line.substr(first, line.find_last_not_of(kSpaces) - first + 1);
}

constexpr std::array<std::size_t, 6> kMostWords{5, 10, 15, 20, 30, 40};

std::size_t length_class(const std::string& source) {
    const std::size_t words = split_words(source).size();
    return static_cast<std::size_t>(std::lower_bound(kMostWords.begin(), kMostWords.end(), words) - kMostWords.begin());
}

std::vector<std::string> chosen(const std::vector<std::string>& lines, const std::vector<std::size_t>& which) {
    std::vector<std::string> some;
    some.reserve(which.size());
    for (const std::size_t line : which) {
        some.push_back(lines[line]);
    }
    return some;
}

}  // namespace

std::size_t count_exact_matches(const std::vector<std::string>& translations,
                                const std::vector<std::vector<std::string>>& references) {
    check_line_counts(translations, references);
    std::size_t matches = 0;
    for (std::size_t i = 0; i < translations.size(); ++i) {
        const bool found = std::any_of(references.begin(), references.end(), [&](const auto& reference) {
            return trimmed(translations[i]) == trimmed(reference[i]);
        });
        matches += found ? 1 : 0;
    }
    return matches;
}

Scores score_translations(const std::vector<std::string>& translations,
                          const std::vector<std::vector<std::string>>& references, const BleuOptions& options,
                          bool stemmed) {
    return {.sentences = translations.size(),
            .bleu = corpus_bleu(translations, references, options),
            .chrf = corpus_chrf(translations, references, options.lowercase),
            .rouge = corpus_rouge(translations, references, stemmed),
            .exact_matches = count_exact_matches(translations, references)};
}

std::vector<LengthScores> score_by_length(const std::vector<std::string>& sources,
                                          const std::vector<std::string>& translations,
                                          const std::vector<std::vector<std::string>>& references,
                                          const BleuOptions& options, bool stemmed) {
    HEADSCOPE_CHECK(sources.size() == translations.size(), "every translation has its source");
    std::array<std::vector<std::size_t>, kMostWords.size() + 1> classes;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        classes[length_class(sources[i])].push_back(i);
    }
    std::vector<LengthScores> result;
    for (std::size_t i = 0; i < classes.size(); ++i) {
        if (classes[i].empty()) {
            continue;
        }
        LengthScores of_class;
        of_class.least = i == 0 ? 0 : kMostWords[i - 1] + 1;
        if (i < kMostWords.size()) {
            of_class.most = kMostWords[i];
        }
        std::vector<std::vector<std::string>> some;
        for (const std::vector<std::string>& reference : references) {
            some.push_back(chosen(reference, classes[i]));
        }
        of_class.scores = score_translations(chosen(translations, classes[i]), some, options, stemmed);
        result.push_back(std::move(of_class));
    }
    return result;
}

}  // namespace headscope
