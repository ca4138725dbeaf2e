#include "observe/line_words.h"

#include <algorithm>
#include <optional>

#include "support/utf8.h"
#include "text/white_space.h"

namespace headscope {

namespace {

constexpr std::string_view kBlanks = " \t";

// White space as Python's str.split() sees it: Unicode's, and the ASCII separators.
bool is_blank(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::optional<char32_t> c = next_code_point(text, at);
        if (!c || !(is_white_space(*c) || (*c >= 0x1c && *c <= 0x1f))) {
            return false;
        }
    }
    return true;
}

ByteSpan kept_of(const Tokenizer& tokenizer, std::string_view line, ByteSpan word) {
    const auto dropped = [&](std::size_t begin, std::size_t end) {
        return tokenizer.is_blank(line.substr(begin, end - begin));
    };
    for (std::size_t next = word.begin; word.begin < word.end; word.begin = next) {
        next_code_point(line, next);
        if (!dropped(word.begin, next)) {
            break;
        }
    }
    while (word.begin < word.end) {
        std::size_t last = word.end - 1;
        while ((static_cast<unsigned char>(line[last]) & 0xc0U) == 0x80) {
            --last;
        }
        if (!dropped(last, word.end)) {
            break;
        }
        word.end = last;
    }
    return word;
}

// The index of the first word that the piece overlaps, or -1.
std::int64_t word_of(const std::vector<ByteSpan>& kept, ByteSpan piece) {
    if (piece.begin == piece.end) {
        return -1;
    }
    auto word = std::upper_bound(kept.begin(), kept.end(), piece.begin,
                                 [](std::size_t begin, const ByteSpan& one) { return begin < one.end; });
    while (word != kept.end() && word->begin == word->end) {
        ++word;
    }
    return word != kept.end() && word->begin < piece.end ? word - kept.begin() : -1;
}

}  // namespace

std::vector<ByteSpan> line_words(std::string_view line) {
    std::vector<ByteSpan> words;
    for (std::size_t begin = line.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
        if (!is_blank(line.substr(begin, end - begin))) {
            words.push_back({begin, end});
        }
        begin = line.find_first_not_of(kBlanks, end);
    }
    return words;
}

std::vector<ByteSpan> kept_words(const Tokenizer& tokenizer, std::string_view line) {
    std::vector<ByteSpan> words = line_words(line);
    for (ByteSpan& word : words) {
        word = kept_of(tokenizer, line, word);
    }
    return words;
}

std::vector<std::int64_t> words_of_pieces(const std::vector<ByteSpan>& kept, const std::vector<ByteSpan>& pieces) {
    std::vector<std::int64_t> units(pieces.size(), -1);
    std::int64_t next = -1;
    for (std::size_t i = pieces.size(); i-- > 0;) {
        const std::int64_t own = word_of(kept, pieces[i]);
        next = units[i] = own >= 0 ? own : next;
    }
    for (std::size_t i = 1; i < units.size(); ++i) {
        units[i] = units[i] >= 0 ? units[i] : units[i - 1];
    }
    return units;
}

}  // namespace headscope
