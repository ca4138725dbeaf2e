#include "text/word_endings.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <unordered_map>

#include "text/case.h"
#include "text/character_bounds.h"
#include "text/spaced_pieces.h"

namespace headscope {

namespace {

constexpr std::size_t kLongestEnding = 5;
constexpr std::string_view kSmall = "…";
constexpr std::string_view kCapital = "A…";

}  // namespace

std::vector<std::string> endings_of(std::string_view word) {
    const std::vector<std::size_t> bounds = character_bounds(word);
    const std::size_t characters = bounds.size() - 1;
    const std::string_view first = word.substr(0, characters == 0 ? 0 : bounds[1]);
    const std::string mark(fold_case(first) == first ? kSmall : kCapital);
    std::string shape(word);
    std::replace_if(
        shape.begin(), shape.end(), [](char one) { return one >= '0' && one <= '9'; }, '0');
    std::vector<std::string> endings;
    for (std::size_t length = std::min(kLongestEnding, characters); length > 0; --length) {
        endings.push_back(mark + shape.substr(bounds[characters - length]));
    }
    endings.push_back(mark);
    return endings;
}

std::string known_ending(const Vocabulary& vocabulary, std::string_view word) {
    const std::vector<std::string> endings = endings_of(word);
    const auto known = std::find_if(endings.begin(), endings.end(),
                                    [&](const std::string& ending) { return vocabulary.find(ending).has_value(); });
    return known == endings.end() ? "" : *known;
}

std::vector<std::string> frequent_endings(const std::vector<std::string>& lines, std::int64_t rare,
                                          std::int64_t minimum) {
    std::unordered_map<std::string, std::int64_t> words;
    for (const std::string& line : lines) {
        for (const ByteSpan word : words_of(line)) {
            ++words[line.substr(word.begin, word.end - word.begin)];
        }
    }
    std::map<std::string, std::int64_t> counts;
    for (const auto& [word, count] : words) {
        if (count < rare) {
            for (const std::string& ending : endings_of(word)) {
                counts[ending] += count;
            }
        }
    }
    for (const std::string_view any : {kSmall, kCapital}) {
        std::int64_t& count = counts[std::string(any)];
        count = std::max(count, minimum);
    }
    std::vector<std::string> endings;
    for (const auto& [ending, count] : counts) {
        if (count >= minimum) {
            endings.push_back(ending);
        }
    }
    std::stable_sort(endings.begin(), endings.end(),
                     [&](const std::string& a, const std::string& b) { return counts.at(a) > counts.at(b); });
    return endings;
}

}  // namespace headscope
