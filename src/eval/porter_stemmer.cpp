#include "eval/porter_stemmer.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope {

namespace {

using Text = std::string_view;

bool is_letter_vowel(char c) {
    return Text("aeiou").find(c) != Text::npos;
}

// Whether each character is a consonant: a y is one unless it follows one.
std::vector<bool> consonants(Text word) {
    std::vector<bool> flags;
    for (std::size_t i = 0; i < word.size(); ++i) {
        flags.push_back(word[i] == 'y' ? i == 0 || !flags[i - 1] : !is_letter_vowel(word[i]));
    }
    return flags;
}

// Porter's m: how often a consonant follows a vowel.
int measure(Text stem) {
    const std::vector<bool> flags = consonants(stem);
    int count = 0;
    for (std::size_t i = 1; i < flags.size(); ++i) {
        count += flags[i] && !flags[i - 1] ? 1 : 0;
    }
    return count;
}

bool has_vowel(Text stem) {
    return std::ranges::count(consonants(stem), false) > 0;
}

bool ends_in_consonant(Text stem) {
    return !stem.empty() && consonants(stem).back();
}

bool ends_in_double_consonant(Text word) {
    return word.size() >= 2 && word.back() == word[word.size() - 2] && ends_in_consonant(word);
}

// Porter's *o: consonant, vowel, consonant other than w, x and y; or a word of a vowel and a consonant.
bool ends_short(Text word) {
    const std::vector<bool> flags = consonants(word);
    const std::size_t n = word.size();
    if (n == 2) {
        return !flags[0] && flags[1];
    }
    return n > 2 && flags[n - 3] && !flags[n - 2] && flags[n - 1] && Text("wxy").find(word.back()) == Text::npos;
}

bool always(Text) {
    return true;
}
bool measured(Text stem) {
    return measure(stem) > 0;
}
bool measured_twice(Text stem) {
    return measure(stem) > 1;
}

struct SuffixRule {
    Text suffix, replacement;
    bool (*holds)(Text stem) = measured;
};

// The first rule whose suffix the word has decides.
std::string stripped(std::string word, std::span<const SuffixRule> rules) {
    for (const SuffixRule& rule : rules) {
        if (word.ends_with(rule.suffix)) {
            const Text stem = Text(word).substr(0, word.size() - rule.suffix.size());
            return rule.holds(stem) ? std::string(stem).append(rule.replacement) : word;
        }
    }
    return word;
}

constexpr SuffixRule kPlurals[] = {
    {"sses", "ss", always}, {"ies", "i", always}, {"ss", "ss", always}, {"s", "", always}};

constexpr SuffixRule kFinalY[] = {{"y", "i", [](Text stem) { return stem.size() > 1 && ends_in_consonant(stem); }}};

constexpr SuffixRule kDoubleSuffixes[] = {{"ational", "ate"},
                                          {"tional", "tion"},
                                          {"enci", "ence"},
                                          {"anci", "ance"},
                                          {"izer", "ize"},
                                          {"bli", "ble"},
                                          {"alli", "al"},
                                          {"entli", "ent"},
                                          {"eli", "e"},
                                          {"ousli", "ous"},
                                          {"ization", "ize"},
                                          {"ation", "ate"},
                                          {"ator", "ate"},
                                          {"alism", "al"},
                                          {"iveness", "ive"},
                                          {"fulness", "ful"},
                                          {"ousness", "ous"},
                                          {"aliti", "al"},
                                          {"iviti", "ive"},
                                          {"biliti", "ble"},
                                          {"fulli", "ful"},
                                          // The l belongs to the stem, so that "geo" is one.
                                          {"logi", "log", [](Text stem) { return measured(std::string(stem) + "l"); }}};

constexpr SuffixRule kThirdStep[] = {{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
                                     {"ical", "ic"},  {"ful", ""},   {"ness", ""}};

constexpr SuffixRule kSingleSuffixes[] = {
    {"al", "", measured_twice},
    {"ance", "", measured_twice},
    {"ence", "", measured_twice},
    {"er", "", measured_twice},
    {"ic", "", measured_twice},
    {"able", "", measured_twice},
    {"ible", "", measured_twice},
    {"ant", "", measured_twice},
    {"ement", "", measured_twice},
    {"ment", "", measured_twice},
    {"ent", "", measured_twice},
    {"ion", "", [](Text stem) { return measured_twice(stem) && (stem.back() == 's' || stem.back() == 't'); }},
    {"ou", "", measured_twice},
    {"ism", "", measured_twice},
    {"ate", "", measured_twice},
    {"iti", "", measured_twice},
    {"ous", "", measured_twice},
    {"ive", "", measured_twice},
    {"ize", "", measured_twice}};

constexpr SuffixRule kFinalE[] = {
    {"e", "", [](Text stem) { return measured_twice(stem) || (measure(stem) == 1 && !ends_short(stem)); }}};

constexpr SuffixRule kFinalL[] = {{"ll", "l", [](Text stem) { return measured_twice(std::string(stem) + "l"); }}};

std::string without_plural(std::string word) {
    return word.size() == 4 && word.ends_with("ies") ? word.substr(0, 3) : stripped(std::move(word), kPlurals);
}

// What is left of a word in -ed or -ing.
std::string repaired(std::string stem) {
    if (stem.ends_with("at") || stem.ends_with("bl") || stem.ends_with("iz")) {
        return stem + "e";
    }
    if (ends_in_double_consonant(stem)) {
        return Text("lsz").find(stem.back()) == Text::npos ? stem.substr(0, stem.size() - 1) : stem;
    }
    return measure(stem) == 1 && ends_short(stem) ? stem + "e" : stem;
}

std::string without_past(std::string word) {
    if (word.ends_with("ied")) {
        return word.substr(0, word.size() - (word.size() == 4 ? 1 : 2));
    }
    if (word.ends_with("eed")) {
        return measured(Text(word).substr(0, word.size() - 3)) ? word.substr(0, word.size() - 1) : word;
    }
    for (const Text suffix : {"ed", "ing"}) {
        if (word.ends_with(suffix) && has_vowel(Text(word).substr(0, word.size() - suffix.size()))) {
            return repaired(word.substr(0, word.size() - suffix.size()));
        }
    }
    return word;
}

std::string without_double_suffix(std::string word) {
    if (word.ends_with("alli") && measured(Text(word).substr(0, word.size() - 4))) {
        word.resize(word.size() - 2);
    }
    return stripped(std::move(word), kDoubleSuffixes);
}

constexpr std::pair<Text, Text> kIrregular[] = {
    {"sky", "sky"},        {"skies", "sky"},       {"dying", "die"},        {"lying", "lie"},
    {"tying", "tie"},      {"news", "news"},       {"innings", "inning"},   {"inning", "inning"},
    {"outings", "outing"}, {"outing", "outing"},   {"cannings", "canning"}, {"canning", "canning"},
    {"howe", "howe"},      {"proceed", "proceed"}, {"exceed", "exceed"},    {"succeed", "succeed"}};

}  // namespace

std::string porter_stem(std::string_view word) {
    const auto* irregular = std::ranges::find(kIrregular, word, &std::pair<Text, Text>::first);
    if (irregular != std::end(kIrregular)) {
        return std::string(irregular->second);
    }
    if (word.size() <= 2) {
        return std::string(word);
    }
    std::string stem = without_past(without_plural(std::string(word)));
    stem = without_double_suffix(stripped(std::move(stem), kFinalY));
    for (const std::span<const SuffixRule> step :
         {std::span<const SuffixRule>(kThirdStep), std::span<const SuffixRule>(kSingleSuffixes),
          std::span<const SuffixRule>(kFinalE), std::span<const SuffixRule>(kFinalL)}) {
        stem = stripped(std::move(stem), step);
    }
    return stem;
}

}  // namespace headscope
