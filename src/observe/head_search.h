// Heads found by a rule instead of by eye.
#pragma once

#include <string>
#include <vector>

#include "observe/selection.h"

namespace headscope {

// The last three count a weight by what it has beyond the mean that all queries give to its key: a head that always
// looks at the same place, whoever asks, says nothing about the word that asks.
enum class HeadRule : std::uint8_t {
    // The most weight from one word to another, named word; plain weight (Figure 4, where the reader knows the
    // antecedent).
    Link,
    // The most from a word to words at least kFarAway away, <EOS> and punctuation left out (Figure 3); without a word:
    // the greatest mean distance among the heads whose sharpness is at least kSharp.
    LongDistance,
    // The most from a word to one single word at least kNotNext words before it, <EOS> and punctuation left out: what a
    // pronoun may stand for.
    Anaphora,
    // The greatest mean over the queries of the largest such weight, among the heads that follow neither position
    // (on_diagonal of at most kPositional) nor the end of the sentence (on_end of at most kOnEnd) (Figure 5).
    Structure,
};
constexpr int kFarAway = 5;
constexpr int kNotNext = 2;
constexpr double kSharp = 0.5;
constexpr double kPositional = 0.5;
constexpr double kOnEnd = 0.25;

struct HeadQuery {
    HeadRule rule = HeadRule::Structure;
    std::string word = {};  // the query; "its:2" is the second of several
    std::string to = {};    // Link: the key
};
// "link=its,Law", "long-distance=making", "long-distance", "anaphora=its", "structure"; words as named_word() reads
// them. Error says what there is.
HeadQuery parse_head_query(const std::string& text);

struct FoundHead {
    AttentionSite site;
    int head = 1;
    double value = 0.0;     // what the rule ranks by
    std::string what = {};  // "its → Law 0.62", "making looks 5 words away or more with 0.71"
};
// Every head that the rule admits, best first; of equal ones the lower layer and head. Words are looked for among
// the selection's rows, in every recorded layer of its kind. Error when a word is not there or no head is admitted.
std::vector<FoundHead> find_heads(const AttentionRecord& record, const AttentionSelection& selection,
                                  const HeadQuery& query);

}  // namespace headscope
