#include "text/sentences.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "text/case.h"

namespace headscope {

namespace {

constexpr auto kEnds = std::to_array<std::string_view>({".", "!", "?", "\u2026"});
constexpr auto kEndsWithoutBlank = std::to_array<std::string_view>({"\u3002", "\uff01", "\uff1f"});
constexpr auto kClosing =
    std::to_array<std::string_view>({"\"", "'", ")", "]", "\u201d", "\u2019", "\u201c", "\u00bb", "\u00ab", "\u300d"});
// Without their ".", in small letters: English and German, where a capital or a number often follows.
constexpr auto kAbbreviations = std::to_array<std::string_view>(
    {"mr",   "mrs",  "ms",   "dr",  "prof", "st",  "no",   "vol", "vs",  "jr",  "sr",  "gen",
     "col",  "sen",  "rep",  "fig", "al",   "nr",  "hr",   "fr",  "str", "bzw", "ca",  "vgl",
     "evtl", "inkl", "abs",  "art", "bd",   "sog", "ggf",  "usw", "etc", "cf",  "pp",  "inc",
     "ltd",  "co",   "corp", "jan", "feb",  "aug", "sept", "oct", "okt", "nov", "dec", "dez"});

template <std::size_t N>
std::size_t length_of_any(const std::array<std::string_view, N>& texts, std::string_view rest) {
    const auto found = std::find_if(texts.begin(), texts.end(),
                                    [rest](std::string_view text) { return rest.substr(0, text.size()) == text; });
    return found == texts.end() ? 0 : found->size();
}

template <std::size_t N>
std::size_t skip_all(const std::array<std::string_view, N>& texts, std::string_view line, std::size_t at) {
    for (std::size_t length = length_of_any(texts, line.substr(at)); length > 0;
         length = length_of_any(texts, line.substr(at))) {
        at += length;
    }
    return at;
}

bool is_blank(char byte) {
    return byte == ' ' || byte == '\t' || byte == '\r';
}

// In the alphabets that have two cases. Text of others begins a sentence whatever its letter.
bool is_small_letter(std::string_view rest) {
    const auto first = static_cast<unsigned char>(rest.front());
    if (first < 0x80) {
        return first >= 'a' && first <= 'z';
    }
    const bool two_cases = first >= 0xC3 && first <= 0xD6;  // U+00C0 to U+058F
    const std::string letter(rest.substr(0, 2));
    return two_cases && fold_case(letter) == letter;
}

bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

// Whether the word before a "." takes it for itself.
bool is_abbreviation(std::string_view word) {
    while (!word.empty() && length_of_any(std::to_array<std::string_view>({"(", "\"", "'", "["}), word) > 0) {
        word.remove_prefix(1);
    }
    if (word.size() <= 2 && !word.empty() && std::all_of(word.begin(), word.end(), is_digit)) {
        return true;
    }
    const bool one_letter = word.size() == 1 && static_cast<unsigned char>(word.front()) < 0x80 && word != "I";
    const std::string small = fold_case(word);
    return one_letter || word.find('.') != std::string_view::npos ||
           std::find(kAbbreviations.begin(), kAbbreviations.end(), small) != kAbbreviations.end();
}

std::string_view word_before(std::string_view line, std::size_t at) {
    std::size_t from = at;
    while (from > 0 && !is_blank(line[from - 1])) {
        --from;
    }
    return line.substr(from, at - from);
}

// Where the sentence ends that has one of the marks at `at`; 0 where it goes on.
std::size_t end_at(std::string_view line, std::size_t at) {
    if (const std::size_t length = length_of_any(kEndsWithoutBlank, line.substr(at)); length > 0) {
        return skip_all(kClosing, line, skip_all(kEndsWithoutBlank, line, at));
    }
    const std::size_t marks = skip_all(kEnds, line, at);
    if (marks == at) {
        return 0;
    }
    const bool lone_dot = marks == at + 1 && line[at] == '.';
    if (lone_dot && is_abbreviation(word_before(line, at))) {
        return 0;
    }
    const std::size_t end = skip_all(kClosing, line, marks);
    std::size_t next = end;
    while (next < line.size() && is_blank(line[next])) {
        ++next;
    }
    return next > end && next < line.size() && !is_small_letter(line.substr(next)) ? end : 0;
}

}  // namespace

std::vector<std::string> split_sentences(std::string_view line) {
    std::vector<std::string> sentences;
    const auto add = [&](std::string_view text) {
        const auto first = std::find_if_not(text.begin(), text.end(), is_blank);
        const auto last = std::find_if_not(text.rbegin(), text.rend(), is_blank).base();
        if (first < last) {
            sentences.emplace_back(first, last);
        }
    };
    std::size_t begin = 0;
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t end = end_at(line, at);
        if (end > 0) {
            add(line.substr(begin, end - begin));
            begin = end;
        }
        at = std::max({at + 1, end, skip_all(kEnds, line, at)});
    }
    add(line.substr(begin));
    return sentences;
}

}  // namespace headscope
