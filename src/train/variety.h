// Counts what decides the size of a vocabulary.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string_view>
#include <unordered_set>

#include "support/utf8.h"

namespace headscope {

// Counts distinct characters and words, the latter by their hashes.
class Variety {
public:
    void add(std::string_view line) {
        for (std::size_t at = 0; at < line.size();) {
            if (const auto point = next_code_point(line, at)) {
                characters_.insert(*point);
            }
        }
        for (std::size_t begin = 0; begin < line.size() && words_.size() < kMostWords;) {
            const std::size_t end = std::min(line.find(' ', begin), line.size());
            words_.insert(std::hash<std::string_view>{}(line.substr(begin, end - begin)));
            begin = end + 1;
        }
    }
    std::int64_t characters() const { return std::ssize(characters_); }
    std::int64_t words() const { return std::ssize(words_); }

private:
    static constexpr std::size_t kMostWords = 2'000'000;  // no vocabulary is larger
    std::unordered_set<char32_t> characters_;
    std::unordered_set<std::size_t> words_;
};

}  // namespace headscope
