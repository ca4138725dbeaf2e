#include "eval/answer_scores.h"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "eval/white_space.h"
#include "support/check.h"
#include "text/case.h"
#include "text/regex.h"

namespace headscope {

namespace {

bool is_ascii_punctuation(char byte) {
    return std::string_view("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~").find(byte) != std::string_view::npos;
}

// Words of the normalised text.
std::vector<std::string> words_of(const std::string& text) {
    static const Regex articles(R"((?<![\p{L}\p{N}_])(?:an|a|the)(?![\p{L}\p{N}_]))", "the articles of answers");
    std::string plain;
    for (const char byte : lower_case(text)) {
        if (!is_ascii_punctuation(byte)) {
            plain += byte;
        }
    }
    for (const ByteSpan& article : articles.matches(plain)) {
        std::fill(plain.begin() + static_cast<std::ptrdiff_t>(article.begin),
                  plain.begin() + static_cast<std::ptrdiff_t>(article.end), ' ');
    }
    return split_words(plain);
}

double overlap(const std::string& found, const std::string& wanted) {
    const std::vector<std::string> ours = words_of(found);
    const std::vector<std::string> theirs = words_of(wanted);
    if (ours.empty() || theirs.empty()) {
        return ours.empty() && theirs.empty() ? 1.0 : 0.0;
    }
    std::map<std::string, std::int64_t> left;
    for (const std::string& word : theirs) {
        ++left[word];
    }
    const auto same = std::ranges::count_if(ours, [&](const std::string& word) { return left[word]-- > 0; });
    return 2.0 * static_cast<double>(same) / static_cast<double>(ours.size() + theirs.size());
}

}  // namespace

std::string normalised_answer(const std::string& text) {
    return fmt::format("{}", fmt::join(words_of(text), " "));
}

void AnswerScores::add(const std::string& found, const std::vector<std::string>& wanted) {
    HEADSCOPE_CHECK(!wanted.empty(), "an answer is compared with one at least");
    ++answers;
    const std::string plain = normalised_answer(found);
    exact_sum += std::ranges::any_of(wanted, [&](const std::string& one) { return normalised_answer(one) == plain; })
                     ? 1.0
                     : 0.0;
    double best = 0.0;
    for (const std::string& one : wanted) {
        best = std::max(best, overlap(found, one));
    }
    f1_sum += best;
}

}  // namespace headscope
