// Questions about a sentence whose answers are known without annotation: where would a head look that follows a rule?
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "observe/words.h"

namespace headscope {

enum class CorpusRule : std::uint8_t {
    Link,          // from one given word to another
    LongDistance,  // from the second of two words that belong together ("from" .. "to") to the first (Figure 3)
    Anaphora,      // from a pronoun to the only earlier word that it can stand for (Figure 4)
    Structure,     // from a word to the words of its clause, in sentences of several (Figure 5)
};

struct CorpusQuery {
    CorpusRule rule = CorpusRule::Structure;
    std::string word = {};  // Link: the query
    std::string to = {};    // Link: the key
};
// "link=its,Law", "long-distance", "anaphora", "structure", or "all" for the last three; words as in named_word().
// Otherwise Error lists the forms.
std::vector<CorpusQuery> parse_corpus_queries(const std::string& text);
// "long-distance", "link its, Law"
std::string name_of(const CorpusQuery& query);
// What the rule asks, as a phrase: "from a pronoun to ..."
const char* meaning_of(CorpusRule rule);

// A query's column and the columns that are right.
struct Question {
    std::size_t query = 0;
    std::vector<std::size_t> right;
};
// The questions that a row of words attending to itself gives rise to; may be empty. `words`: whether an item is a
// word, not punctuation or a special token. Pronouns and pairs of words are English. Words of a pair are at least
// kFarAway (head_search.h) apart, each once in the row. Clauses end at punctuation. `causal`: only earlier words are
// right.
std::vector<Question> questions_of(const std::vector<RowItem>& row, const std::vector<bool>& words,
                                   const CorpusQuery& query, bool causal);

}  // namespace headscope
