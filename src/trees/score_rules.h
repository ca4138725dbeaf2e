// What counts when trees are compared: the parameter file of EVALB.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope {

// The defaults are those of COLLINS.prm, with which published results on the Penn Treebank are counted.
struct ScoreRules {
    std::int64_t cutoff = 40;      // CUTOFF_LEN: the second summary is of sentences of at most so many words
    std::int64_t max_errors = 10;  // MAX_ERROR: EVALB ends at the second error after so many
    bool labelled = true;          // LABELED: constituents must also have the same label
    // DELETE_LABEL: words with such a tag do not count, nor constituents with such a label (their children do).
    std::vector<std::string> deleted = {"TOP", "-NONE-", ",", ":", "``", "''", "."};
    std::vector<std::string> deleted_for_length = {"-NONE-"};  // DELETE_LABEL_FOR_LENGTH
    // QUOTE_LABEL: a ', " or / whose tag is one of these is put back if only one of the trees has it deleted.
    std::vector<std::string> quotes = {};
    std::vector<std::pair<std::string, std::string>> equal_labels = {{"ADVP", "PRT"}};  // EQ_LABEL
    std::vector<std::pair<std::string, std::string>> equal_words = {};                  // EQ_WORD

    bool is_deleted(std::string_view label) const;
    bool counts_for_length(std::string_view tag) const;
    bool is_quote(std::string_view tag, std::string_view word) const;
    bool same_label(std::string_view a, std::string_view b) const;
    bool same_word(std::string_view a, std::string_view b) const;
    bool operator==(const ScoreRules&) const = default;
};

// Reads a parameter file: "KEY value" per line, # begins a comment line. What it does not mention is 10 errors, 40
// words, labelled, and nothing deleted or equal. Error that names file, line and key.
ScoreRules read_score_rules(const std::string& path);

}  // namespace headscope
