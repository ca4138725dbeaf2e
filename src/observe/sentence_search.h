// Finds what the heads say in a sentence without being asked about a word.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "observe/selection.h"

namespace headscope {

enum class SentenceRule : std::uint8_t {
    Link,      // from a word to one that is not next to it; with both words given, as HeadRule::Link
    Anaphora,  // from an English pronoun to an earlier word that is not next to it
    Previous,  // from a word to the one before it
    Structure  // HeadRule::Structure
};

struct SentenceRuleLabels {
    SentenceRule rule;
    const char* name;     // in files
    const char* title;    // in the window
    const char* meaning;  // "from a pronoun to ..."
};
inline constexpr std::array<SentenceRuleLabels, 4> kSentenceRules{
    {{SentenceRule::Link, "link", "Link", "from a word to another one that is not next to it"},
     {SentenceRule::Anaphora, "anaphora", "Pronoun",
      "from an English pronoun to an earlier word that is not next to it"},
     {SentenceRule::Previous, "previous", "Previous word", "from a word to the one before it"},
     {SentenceRule::Structure, "structure", "Structure",
      "in heads that follow neither position nor the end of the sentence, the mean of each word's strongest link"}}};
const SentenceRuleLabels& labels_of(SentenceRule rule);

struct SentenceQuestion {
    SentenceRule rule = SentenceRule::Link;
    AttentionKind kind = AttentionKind::EncoderSelf;
    RowOptions rows = {};
    int query = -1;  // the only column to look from; -1: any
    int key = -1;    // the only column to look at; -1: any
};

// A head, and the pair of words that says most about it.
struct TellingHead {
    AttentionSite site = {};
    int head = 1;  // from 1
    // Heads are ranked by it: how much the weight of the pair exceeds the key's mean over all words. Of Link with
    // both words given it is the weight; of Structure the mean over all words.
    double score = 0.0;
    std::size_t query = 0, key = 0;  // columns
    double weight = 0.0;
    std::string from = {}, to = {};  // their words
};

// Every recorded head of the kind that has such a pair, best first; ties in order of layer and head. Heads that are
// switched off have none.
std::vector<TellingHead> rank_heads(const AttentionRecord& record, const SentenceQuestion& question);

// The head that says most: the best by the first rule of Anaphora, Link, Structure and Previous whose score is at least
// kTelling, or else the best score of all. Empty if no head has a pair.
constexpr double kTelling = 0.2;
std::optional<TellingHead> most_telling(const AttentionRecord& record, AttentionKind kind, const RowOptions& rows);

}  // namespace headscope
