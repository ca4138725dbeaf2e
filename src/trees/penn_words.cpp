#include "trees/penn_words.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "trees/tree.h"

namespace headscope {

namespace {

// The word with these brackets as treebanks write them.
std::string written(std::string_view word, std::string_view opening, std::string_view closing) {
    std::string text;
    for (const char one : word) {
        if (opening.find(one) != std::string_view::npos) {
            text += "-LRB-";
        } else if (closing.find(one) != std::string_view::npos) {
            text += "-RRB-";
        } else {
            text += one;
        }
    }
    return text;
}

struct Mark {
    std::string_view text;
    std::string_view at_begin, at_end;  // how it is written there; empty: it is not split off
};

// Longer ones before their beginnings and ends.
constexpr std::array<Mark, 23> kMarks{{
    {"...", "...", "..."},   {",", ",", ","},         {";", ";", ";"},         {":", ":", ":"},
    {"?", "?", "?"},         {"!", "!", "!"},         {"%", "%", "%"},         {"(", "-LRB-", "-LRB-"},
    {"[", "-LRB-", "-LRB-"}, {"{", "-LRB-", "-LRB-"}, {")", "-RRB-", "-RRB-"}, {"]", "-RRB-", "-RRB-"},
    {"}", "-RRB-", "-RRB-"}, {"“", "``", "``"},       {"”", "''", "''"},       {"\"", "``", "''"},
    {"``", "``", ""},        {"''", "", "''"},        {"‘", "`", "`"},         {"`", "`", ""},
    {"'", "", "'"},          {"$", "$", ""},          {"#", "#", ""},
}};
// What is written otherwise wherever it stands. Blanks separate words.
constexpr std::array<std::array<std::string_view, 2>, 5> kEverywhere{
    {{"’", "'"}, {"--", " -- "}, {"—", " -- "}, {"...", " ... "}, {"…", " ... "}}};
constexpr std::array<std::string_view, 7> kEndings{"n't", "'s", "'re", "'ve", "'ll", "'d", "'m"};

const Mark* mark_at_begin(std::string_view word) {
    const auto* const found = std::find_if(kMarks.begin(), kMarks.end(), [&](const Mark& mark) {
        return !mark.at_begin.empty() && word.starts_with(mark.text);
    });
    return found == kMarks.end() ? nullptr : found;
}

const Mark* mark_at_end(std::string_view word) {
    const auto* const found = std::find_if(kMarks.begin(), kMarks.end(), [&](const Mark& mark) {
        return !mark.at_end.empty() && word.ends_with(mark.text);
    });
    return found == kMarks.end() ? nullptr : found;
}

std::string with_usual_marks(std::string_view text) {
    std::string written;
    while (!text.empty()) {
        const auto* const found = std::find_if(kEverywhere.begin(), kEverywhere.end(),
                                               [&](const auto& mark) { return text.starts_with(mark[0]); });
        const std::size_t size = found == kEverywhere.end() ? 1 : (*found)[0].size();
        written += found == kEverywhere.end() ? text.substr(0, 1) : (*found)[1];
        text.remove_prefix(size);
    }
    return written;
}

// Where the second of two words begins that are written as one; the end if it is one word. `lower` has no capitals.
std::size_t second_word(std::string_view lower) {
    if (lower == "cannot") {
        return 3;
    }
    for (const std::string_view ending : kEndings) {
        if (lower.size() > ending.size() && lower.ends_with(ending)) {
            return lower.size() - ending.size();
        }
    }
    return lower.size();
}

// Appends the words of a part without white space.
void add_words(std::string_view part, bool is_last, std::vector<std::string>& words) {
    for (const Mark* mark = mark_at_begin(part); mark != nullptr; mark = mark_at_begin(part)) {
        words.emplace_back(mark->at_begin);
        part.remove_prefix(mark->text.size());
    }
    std::vector<std::string> after;  // in reverse
    const auto strip = [&](std::string_view text, std::string_view written) {
        after.emplace_back(written);
        part.remove_suffix(text.size());
    };
    for (bool again = true; again;) {
        again = false;
        if (const Mark* mark = mark_at_end(part)) {
            strip(mark->text, mark->at_end);
            again = true;
        } else if (is_last && part.size() > 1 && part.ends_with('.')) {
            strip(".", ".");
            is_last = false;
            again = true;
        }
    }
    std::string lower(part);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char one) { return one >= 'A' && one <= 'Z' ? static_cast<char>(one - 'A' + 'a') : one; });
    if (const std::string_view second = part.substr(second_word(lower)); !second.empty()) {
        strip(second, second);
    }
    if (!part.empty()) {
        words.push_back(written(part, "([{", ")]}"));
    }
    std::move(after.rbegin(), after.rend(), std::back_inserter(words));
}

}  // namespace

std::vector<std::string> penn_words(std::string_view text) {
    std::vector<std::string> words;
    const std::vector<std::string> parts = split_at_blanks(with_usual_marks(text));
    for (std::size_t i = 0; i < parts.size(); ++i) {
        add_words(parts[i], i + 1 == parts.size(), words);
    }
    return words;
}

std::string without_brackets(std::string_view word) {
    return written(word, "(", ")");
}

}  // namespace headscope
