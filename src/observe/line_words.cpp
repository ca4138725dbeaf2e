#include "observe/line_words.h"

#include <algorithm>
#include <string>

namespace headscope {

namespace {

constexpr std::string_view kBlanks = " \t";

// -1 where it covers nothing of a word.
std::int64_t word_of(const Tokenizer& tokenizer, std::string_view line, const std::vector<ByteSpan>& words,
                     ByteSpan piece) {
    auto word = std::upper_bound(words.begin(), words.end(), piece.begin,
                                 [](std::size_t begin, const ByteSpan& one) { return begin < one.end; });
    for (; word != words.end() && word->begin < piece.end; ++word) {
        const std::size_t begin = std::max(word->begin, piece.begin);
        if (!tokenizer.is_blank(line.substr(begin, std::min(word->end, piece.end) - begin))) {
            return word - words.begin();
        }
    }
    return -1;
}

}  // namespace

std::vector<ByteSpan> line_words(std::string_view line) {
    std::vector<ByteSpan> words;
    for (std::size_t begin = line.find_first_not_of(kBlanks); begin != std::string_view::npos;
         begin = line.find_first_not_of(kBlanks, words.back().end)) {
        words.push_back({begin, std::min(line.find_first_of(kBlanks, begin), line.size())});
    }
    return words;
}

std::vector<std::int64_t> words_of_pieces(const Tokenizer& tokenizer, std::string_view line,
                                          const std::vector<ByteSpan>& words, const std::vector<ByteSpan>& pieces) {
    std::vector<std::int64_t> units(pieces.size(), -1);
    std::int64_t next = -1;
    for (std::size_t i = pieces.size(); i-- > 0;) {
        const std::int64_t own = word_of(tokenizer, line, words, pieces[i]);
        next = units[i] = own >= 0 ? own : next;
    }
    for (std::size_t i = 1; i < units.size(); ++i) {
        units[i] = units[i] >= 0 ? units[i] : units[i - 1];
    }
    return units;
}

}  // namespace headscope
