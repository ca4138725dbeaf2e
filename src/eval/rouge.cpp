#include "eval/rouge.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

#include "eval/line_counts.h"
#include "eval/porter_stemmer.h"
#include "support/check.h"
#include "text/case.h"

namespace headscope {

namespace {

using Words = std::vector<std::string>;

constexpr std::size_t kLongestUnstemmed = 3;

Words words_of(const std::string& line, bool stemmed) {
    Words words;
    std::string word;
    const auto end_word = [&] {
        if (!word.empty()) {
            words.push_back(stemmed && word.size() > kLongestUnstemmed ? porter_stem(word) : word);
        }
        word.clear();
    };
    for (const char c : lower_case(line)) {
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            word += c;
        } else {
            end_word();
        }
    }
    end_word();
    return words;
}

// Sorted, so that equal ones are adjacent.
Words sorted_pairs(const Words& words) {
    Words pairs;
    for (std::size_t i = 1; i < words.size(); ++i) {
        pairs.push_back(words[i - 1] + " " + words[i]);
    }
    std::ranges::sort(pairs);
    return pairs;
}

Words sorted(Words words) {
    std::ranges::sort(words);
    return words;
}

// Each counted as often as on the side with fewer.
std::size_t count_common(const Words& a, const Words& b) {
    Words common;
    std::ranges::set_intersection(a, b, std::back_inserter(common));
    return common.size();
}

std::size_t longest_common_subsequence(const Words& a, const Words& b) {
    std::vector<std::size_t> above(b.size() + 1), row(b.size() + 1);
    for (const std::string& word : a) {
        for (std::size_t j = 0; j < b.size(); ++j) {
            row[j + 1] = word == b[j] ? above[j] + 1 : std::max(above[j + 1], row[j]);
        }
        std::swap(above, row);
    }
    return above.back();
}

RougeMean mean_of(std::size_t common, std::size_t summary, std::size_t reference) {
    const auto share = [common](std::size_t all) {
        return all == 0 ? 0.0 : static_cast<double>(common) / static_cast<double>(all);
    };
    const double precision = share(summary);
    const double recall = share(reference);
    const double both = precision + recall;
    return {precision, recall, both > 0.0 ? 2.0 * precision * recall / both : 0.0};
}

// What a line is compared by.
struct RougeLine {
    RougeLine(const std::string& line, bool stemmed)
        : words(words_of(line, stemmed)), singles(sorted(words)), pairs(sorted_pairs(words)) {}

    Words words, singles, pairs;
};

using Means = std::array<RougeMean, 3>;  // ROUGE-1, 2, L

Means compare(const RougeLine& summary, const RougeLine& reference) {
    const auto of_sets = [](const Words& one, const Words& other) {
        return mean_of(count_common(one, other), one.size(), other.size());
    };
    return {of_sets(summary.singles, reference.singles), of_sets(summary.pairs, reference.pairs),
            mean_of(longest_common_subsequence(summary.words, reference.words), summary.words.size(),
                    reference.words.size())};
}

}  // namespace

RougeScore corpus_rouge(const std::vector<std::string>& summaries,
                        const std::vector<std::vector<std::string>>& references, bool stemmed) {
    HEADSCOPE_CHECK(!references.empty(), "ROUGE needs a reference");
    check_line_counts(summaries, references);
    Means sums;
    for (std::size_t line = 0; line < summaries.size(); ++line) {
        const RougeLine summary(summaries[line], stemmed);
        Means best;
        for (const std::vector<std::string>& reference : references) {
            const Means means = compare(summary, RougeLine(reference[line], stemmed));
            for (std::size_t i = 0; i < best.size(); ++i) {
                best[i] = &reference == &references.front() || means[i].f1 > best[i].f1 ? means[i] : best[i];
            }
        }
        for (std::size_t i = 0; i < best.size(); ++i) {
            sums[i].precision += best[i].precision;
            sums[i].recall += best[i].recall;
            sums[i].f1 += best[i].f1;
        }
    }
    const double percent = summaries.empty() ? 0.0 : 100.0 / static_cast<double>(summaries.size());
    for (RougeMean& sum : sums) {
        sum = {sum.precision * percent, sum.recall * percent, sum.f1 * percent};
    }
    return {sums[0], sums[1], sums[2], static_cast<int>(references.size()), stemmed};
}

std::string RougeScore::to_string() const {
    return fmt::format("ROUGE-1 = {:.2f} ROUGE-2 = {:.2f} ROUGE-L = {:.2f} (F1)", one.f1, two.f1, longest.f1);
}

std::string RougeScore::signature() const {
    return fmt::format("nrefs:{}|stem:{}", references, stemmed ? "porter" : "no");
}

}  // namespace headscope
