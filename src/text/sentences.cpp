#include "text/sentences.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "support/utf8.h"
#include "text/case.h"
#include "text/sentence_terminals.h"
#include "text/white_space.h"

namespace headscope {

namespace {

// English and German, without the ".", in lower case: a capital or a number often follows them.
constexpr auto kAbbreviations = std::to_array<std::string_view>(
    {"mr",   "mrs",  "ms",   "dr",  "prof", "st",  "no",   "vol", "vs",  "jr",  "sr",  "gen",
     "col",  "sen",  "rep",  "fig", "al",   "nr",  "hr",   "fr",  "str", "bzw", "ca",  "vgl",
     "evtl", "inkl", "abs",  "art", "bd",   "sog", "ggf",  "usw", "etc", "cf",  "pp",  "inc",
     "ltd",  "co",   "corp", "jan", "feb",  "aug", "sept", "oct", "okt", "nov", "dec", "dez"});

// Stands for an invalid byte.
constexpr char32_t kIllFormed = 0xffffffff;

utf8proc_category_t category(char32_t c) {
    return c == kIllFormed ? UTF8PROC_CATEGORY_CN : utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

// Marks and format characters belong to the previous character (UAX #29, SB5).
bool extends(char32_t c) {
    switch (category(c)) {
        case UTF8PROC_CATEGORY_MN:
        case UTF8PROC_CATEGORY_MC:
        case UTF8PROC_CATEGORY_ME:
        case UTF8PROC_CATEGORY_CF: return true;
        default: return false;
    }
}

bool is_quote(char32_t c) {
    return c == '"' || c == '\'';
}

bool opens(char32_t c) {
    return is_quote(c) || category(c) == UTF8PROC_CATEGORY_PS || category(c) == UTF8PROC_CATEGORY_PI;
}

// Georgian letters have capitals, but only for headlines (UAX #29 treats them as caseless, too).
bool is_small_letter(char32_t c) {
    const bool georgian = c >= 0x10d0 && c <= 0x10ff;
    return category(c) == UTF8PROC_CATEGORY_LL && !georgian;
}

// Closing marks and most other punctuation, but not marks that may open.
bool ends_or_parts(char32_t c) {
    switch (category(c)) {
        case UTF8PROC_CATEGORY_PE:
        case UTF8PROC_CATEGORY_PF: return true;
        case UTF8PROC_CATEGORY_PO: return !is_quote(c);
        default: return false;
    }
}

bool is_initial(char32_t c) {
    const bool ascii = (c | 0x20U) >= 'a' && (c | 0x20U) <= 'z';
    return c != 'I' && (ascii || category(c) == UTF8PROC_CATEGORY_LU);
}

class Scanner {
public:
    Scanner(std::string_view line, SentenceBreaks breaks) : line_(line), breaks_(breaks) {
        for (std::size_t at = 0; at < line.size();) {
            begins_.push_back(at);
            codes_.push_back(next_code_point(line, at).value_or(kIllFormed));
        }
        begins_.push_back(line.size());
    }

    std::size_t size() const { return codes_.size(); }

    // Trims white space.
    std::string_view text(std::size_t from, std::size_t to) const {
        while (from < to && is_white_space(codes_[from])) {
            ++from;
        }
        while (from < to && is_white_space(codes_[to - 1])) {
            --to;
        }
        return line_.substr(begins_[from], begins_[to] - begins_[from]);
    }

    std::size_t skip_terminals(std::size_t at) const {
        while (at < size() && sentence_terminal(codes_[at]) != SentenceTerminal::None) {
            at = behind(at);
        }
        return at;
    }

    // The end of the sentence that has a terminal or a separator at `at`; 0 if the sentence continues.
    std::size_t end_at(std::size_t at) const {
        if (breaks_ == SentenceBreaks::Any && is_line_separator(codes_[at])) {
            return at + 1;
        }
        const std::size_t marks = skip_terminals(at);
        if (marks == at) {
            return 0;
        }
        const std::size_t end = skip_closing(marks);
        const auto begins = codes_.begin() + static_cast<std::ptrdiff_t>(at);
        const auto ends = codes_.begin() + static_cast<std::ptrdiff_t>(marks);
        if (std::any_of(begins, ends, [](char32_t c) { return sentence_terminal(c) == SentenceTerminal::Anywhere; })) {
            return is_within_word(marks) ? 0 : end;
        }
        if (!blank_and_beginning(end)) {
            return 0;
        }
        const bool lone_dot = codes_[at] == '.' && behind(at) == marks;
        return lone_dot && is_abbreviation(at) ? 0 : end;
    }

private:
    std::size_t behind(std::size_t at) const {
        do {
            ++at;
        } while (at < size() && extends(codes_[at]));
        return at;
    }

    // Wide full stops also separate the digits of numbers and the parts of addresses, as "." does.
    bool is_within_word(std::size_t marks) const {
        const char32_t last = codes_[marks - 1];
        const bool wide_dot = last == 0xff0e || last == 0xfe52;
        return wide_dot && marks < size() &&
               (category(codes_[marks]) == UTF8PROC_CATEGORY_ND || is_small_letter(codes_[marks]));
    }

    // The opening quotes of one language are the closing quotes of another: the next character decides.
    bool closes(std::size_t at) const {
        switch (category(codes_[at])) {
            case UTF8PROC_CATEGORY_PE:
            case UTF8PROC_CATEGORY_PF: return true;
            case UTF8PROC_CATEGORY_PI: {
                const std::size_t next = behind(at);
                return next == size() || is_white_space(codes_[next]) || category(codes_[next]) == UTF8PROC_CATEGORY_PE;
            }
            default: return is_quote(codes_[at]);
        }
    }

    // After a blank a quote may also open: it closes only if no word follows.
    bool closes_behind_blank(std::size_t at) const {
        const std::size_t next = behind(at);
        if (next == size()) {
            return closes(at);
        }
        const bool word_ended = is_white_space(codes_[next]) || ends_or_parts(codes_[next]);
        return word_ended &&
               (category(codes_[at]) == UTF8PROC_CATEGORY_PE || category(codes_[at]) == UTF8PROC_CATEGORY_PF);
    }

    // French puts a space before closing quotes, often a no-break space.
    std::size_t skip_closing(std::size_t at) const {
        for (;;) {
            std::size_t next = at;
            bool no_break = true;
            while (next < size() && is_white_space(codes_[next]) && !is_line_separator(codes_[next])) {
                no_break = no_break && is_no_break_space(codes_[next]);
                next = behind(next);
            }
            if (next == size()) {
                return at;
            }
            const bool bound = no_break && (next == at || !is_quote(codes_[next]));
            if (!(bound && closes(next)) && !(next > at && closes_behind_blank(next))) {
                return at;
            }
            at = behind(next);
        }
    }

    // Whether a blank that may end a sentence is followed by a possible beginning of one.
    bool blank_and_beginning(std::size_t at) const {
        bool blank = false;
        for (; at < size() && is_white_space(codes_[at]); at = behind(at)) {
            blank = blank || breaks_ == SentenceBreaks::Any || !is_no_break_space(codes_[at]);
        }
        return blank && at < size() && !is_small_letter(codes_[at]);
    }

    // Whether the "." belongs to an abbreviation.
    bool is_abbreviation(std::size_t dot) const {
        std::size_t first = dot;
        while (first > 0 && !is_white_space(codes_[first - 1])) {
            --first;
        }
        while (first < dot && opens(codes_[first])) {
            ++first;
        }
        const auto begin = codes_.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end = codes_.begin() + static_cast<std::ptrdiff_t>(dot);
        const auto digit = [](char32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; };
        if (begin == end || std::find(begin, end, U'.') != end) {
            return begin != end;
        }
        const bool short_number = end - begin <= 2 && std::all_of(begin, end, digit);
        const bool initial = behind(first) == dot && is_initial(*begin);
        const std::string small = fold_case(line_.substr(begins_[first], begins_[dot] - begins_[first]));
        return short_number || initial ||
               std::find(kAbbreviations.begin(), kAbbreviations.end(), small) != kAbbreviations.end();
    }

    std::string_view line_;
    SentenceBreaks breaks_;
    std::vector<char32_t> codes_;
    std::vector<std::size_t> begins_;  // of each character, and the end
};

}  // namespace

std::vector<std::string_view> split_sentences(std::string_view line, SentenceBreaks breaks) {
    std::vector<std::string_view> sentences;
    const Scanner scanner(line, breaks);
    const auto add = [&](std::size_t from, std::size_t to) {
        if (const std::string_view text = scanner.text(from, to); !text.empty()) {
            sentences.push_back(text);
        }
    };
    std::size_t begin = 0;
    for (std::size_t at = 0; at < scanner.size();) {
        const std::size_t end = scanner.end_at(at);
        if (end > 0) {
            add(begin, end);
            begin = end;
        }
        at = std::max({at + 1, end, scanner.skip_terminals(at)});
    }
    add(begin, scanner.size());
    return sentences;
}

}  // namespace headscope
