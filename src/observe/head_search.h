// Finds heads by rule.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "observe/head_statistics.h"
#include "observe/selection.h"

namespace headscope {

// The rules about words but Link subtract from a weight the key's mean weight over all queries: a head that attends to
// the same key from every query reveals nothing about one query.
enum class HeadRule : std::uint8_t {
    // Weight from one given word to another (Figure 4, where the reader knows the antecedent).
    Link,
    // Weight from a word to words at least kFarAway away, except <EOS> and punctuation (Figure 3). Without a word: mean
    // distance, among heads with a sharpness of at least kSharp.
    LongDistance,
    // Weight from a word to the best single word at least kNotNext words before it, except <EOS> and punctuation: the
    // likely antecedent of a pronoun.
    Anaphora,
    // Mean over the queries of the largest weight, among heads that are neither positional (on_diagonal above
    // kPositional) nor attend mostly to the end of the sentence (on_end above kOnEnd) (Figure 5).
    Structure,
    // Weight from tokens on the one before them; from repeated tokens on what followed their earlier places, and on
    // these places (HeadStatistics).
    PreviousToken,
    Induction,
    DuplicateToken,
};

// A rule about the places of tokens, whatever they say: repeated_text() is a text for it. Heads are also sorted by it.
struct PlaceRule {
    HeadRule rule;
    const char* name;   // of the search and of the order
    const char* found;  // "0.52 on the token before"
    const char* label;  // the next three are those of an order of heads
    const char* by;
    const char* legend;
    // None in a text that has nothing to measure.
    std::optional<double> (*value)(const HeadStatistics& head);
};
inline constexpr std::array<PlaceRule, 3> kPlaceRules{
    {{HeadRule::PreviousToken, "previous-token", "on the token before", "Previous", "the previous token",
      "By the weight on the token before", [](const HeadStatistics& one) { return one.previous_if_any(); }},
     {HeadRule::Induction, "induction", "from repeated tokens on what followed them before", "Induction", "induction",
      "By the weight of repeated tokens on what followed them before: induction",
      [](const HeadStatistics& one) { return one.induction_if_any(); }},
     {HeadRule::DuplicateToken, "duplicate-token", "from repeated tokens on their earlier places", "Duplicate",
      "duplicate tokens", "By the weight of repeated tokens on their earlier places",
      [](const HeadStatistics& one) { return one.duplicate_if_any(); }}}};
bool asks_for_places(HeadRule rule);
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
// "link=its,Law", "long-distance=making", "long-distance", "anaphora=its", "structure", "previous-token", "induction",
// "duplicate-token"; words as in named_word(). Otherwise Error lists the forms.
HeadQuery parse_head_query(const std::string& text);

struct FoundHead {
    AttentionSite site;
    int head = 1;
    double value = 0.0;     // the rule's score
    std::string what = {};  // "its → Law 0.62", "making looks 5 words away or more with 0.71"
};
// Matching heads, best first; ties in order of layer and head. Searches every recorded layer of the selection's kind,
// with the words of its rows. Error if a word is missing or no head matches.
std::vector<FoundHead> find_heads(const AttentionRecord& record, const AttentionSelection& selection,
                                  const HeadQuery& query);

// True unless the item is a special token or punctuation.
bool is_word(const std::vector<RecordedToken>& tokens, const RowItem& item);
// The mean weight of each key over all queries.
std::vector<double> common_weights(const SelectedAttention& content, int head);
// The mean over the queries of the largest weight beyond that mean.
double strongest_beyond(const SelectedAttention& content, int head);

}  // namespace headscope
