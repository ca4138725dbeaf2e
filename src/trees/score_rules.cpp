#include "trees/score_rules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <system_error>

#include <fmt/format.h>

#include "support/check.h"
#include "support/counted.h"
#include "text/lines.h"
#include "trees/tree.h"

namespace headscope {

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

bool contains(const std::vector<std::string>& list, std::string_view text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

bool are_equal(const Pairs& pairs, std::string_view a, std::string_view b) {
    return a == b || std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
               return (pair.first == a && pair.second == b) || (pair.first == b && pair.second == a);
           });
}

std::int64_t number_in(const std::string& text) {
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc() || end != text.data() + text.size() || number < 0) {
        throw Error(fmt::format("must be a whole number, found \"{}\"", text));
    }
    return number;
}

struct Key {
    const char* name;
    std::size_t values;
    std::function<void(ScoreRules& rules, const std::vector<std::string>& values)> set;
};

using Values = const std::vector<std::string>&;

const std::array<Key, 9> kKeys{{
    {"DEBUG", 1, [](ScoreRules&, Values values) { number_in(values[0]); }},  // what EVALB prints besides
    {"MAX_ERROR", 1, [](ScoreRules& rules, Values values) { rules.max_errors = number_in(values[0]); }},
    {"CUTOFF_LEN", 1, [](ScoreRules& rules, Values values) { rules.cutoff = number_in(values[0]); }},
    {"LABELED", 1, [](ScoreRules& rules, Values values) { rules.labelled = number_in(values[0]) != 0; }},
    {"DELETE_LABEL", 1, [](ScoreRules& rules, Values values) { rules.deleted.push_back(values[0]); }},
    {"DELETE_LABEL_FOR_LENGTH", 1,
     [](ScoreRules& rules, Values values) { rules.deleted_for_length.push_back(values[0]); }},
    {"QUOTE_LABEL", 1, [](ScoreRules& rules, Values values) { rules.quotes.push_back(values[0]); }},
    {"EQ_LABEL", 2, [](ScoreRules& rules, Values values) { rules.equal_labels.emplace_back(values[0], values[1]); }},
    {"EQ_WORD", 2, [](ScoreRules& rules, Values values) { rules.equal_words.emplace_back(values[0], values[1]); }},
}};

void set(ScoreRules& rules, std::vector<std::string> line) {
    const auto* const key =
        std::find_if(kKeys.begin(), kKeys.end(), [&](const Key& one) { return one.name == line[0]; });
    if (key == kKeys.end()) {
        throw Error(fmt::format("unknown key {}", line[0]));
    }
    line.erase(line.begin());
    if (line.size() != key->values) {
        throw Error(fmt::format("{} needs {}, found {}", key->name, counted(key->values, "value"), line.size()));
    }
    try {
        key->set(rules, line);
    } catch (const Error& error) {
        throw Error(fmt::format("{} {}", key->name, error.what()));
    }
}

}  // namespace

bool ScoreRules::is_deleted(std::string_view label) const {
    return contains(deleted, label);
}

bool ScoreRules::counts_for_length(std::string_view tag) const {
    return !contains(deleted_for_length, tag);
}

bool ScoreRules::is_quote(std::string_view tag, std::string_view word) const {
    return (word == "'" || word == "\"" || word == "/") && contains(quotes, tag);
}

bool ScoreRules::same_label(std::string_view a, std::string_view b) const {
    return are_equal(equal_labels, a, b);
}

bool ScoreRules::same_word(std::string_view a, std::string_view b) const {
    return are_equal(equal_words, a, b);
}

ScoreRules read_score_rules(const std::string& path) {
    ScoreRules rules{.deleted = {}, .deleted_for_length = {}, .equal_labels = {}};
    LineReader reader(path);
    for (std::string line; reader.next(line);) {
        std::vector<std::string> parts = split_at_blanks(line);
        if (parts.empty() || line.starts_with('#')) {
            continue;
        }
        try {
            set(rules, std::move(parts));
        } catch (const Error& error) {
            throw Error(fmt::format("{} line {}: {}", reader.name(), reader.number(), error.what()));
        }
    }
    return rules;
}

}  // namespace headscope
