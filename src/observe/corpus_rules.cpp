#include "observe/corpus_rules.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "observe/head_search.h"
#include "support/usage_error.h"
#include "text/case.h"
#include "text/normal_form.h"

namespace headscope {

namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// Pronouns, and words before them that they can stand for. Tom and Mary are Tatoeba's usual names.
constexpr std::array<Pair, 7> kStandFor{{{" my me myself mine ", " i "},
                                         {" your yourself yourselves yours ", " you "},
                                         {" he his him himself ", " he tom john "},
                                         {" she her herself hers ", " she mary "},
                                         {" our us ourselves ours ", " we "},
                                         {" their them themselves theirs ", " they "},
                                         {" its itself ", " it "}}};

constexpr std::array<Pair, 15> kPairs{{{"either", "or"},
                                       {"neither", "nor"},
                                       {"both", "and"},
                                       {"between", "and"},
                                       {"from", "to"},
                                       {"if", "then"},
                                       {"more", "than"},
                                       {"less", "than"},
                                       {"better", "than"},
                                       {"rather", "than"},
                                       {"so", "that"},
                                       {"such", "that"},
                                       {"too", "to"},
                                       {"not", "but"},
                                       {"whether", "or"}}};

bool has(std::string_view words, const std::string& word) {
    return !word.empty() && words.find(" " + word + " ") != std::string_view::npos;
}

std::vector<std::size_t> columns_of(const std::vector<std::string>& row, std::string_view word) {
    std::vector<std::size_t> found;
    for (std::size_t at = 0; at < row.size(); ++at) {
        if (row[at] == word) {
            found.push_back(at);
        }
    }
    return found;
}

void add_link(const std::vector<std::string>& row, std::string_view from, std::string_view to, std::size_t least,
              std::vector<Question>& questions) {
    const std::vector<std::size_t> query = columns_of(row, from);
    const std::vector<std::size_t> key = columns_of(row, to);
    if (query.size() == 1 && key.size() == 1 && std::max(query[0], key[0]) - std::min(query[0], key[0]) >= least) {
        questions.push_back({query[0], {key[0]}});
    }
}

void add_anaphora(const std::vector<std::string>& row, std::vector<Question>& questions) {
    for (std::size_t query = 0; query < row.size(); ++query) {
        for (const auto& [pronouns, antecedents] : kStandFor) {
            if (!has(pronouns, row[query])) {
                continue;
            }
            std::vector<std::size_t> found;
            for (std::size_t key = 0; key < query; ++key) {
                if (has(antecedents, row[key])) {
                    found.push_back(key);
                }
            }
            if (found.size() == 1) {
                questions.push_back({query, std::move(found)});
            }
        }
    }
}

void add_clauses(const std::vector<RowItem>& row, const std::vector<bool>& words, std::vector<Question>& questions) {
    std::vector<std::vector<std::size_t>> clauses(1);
    for (std::size_t at = 0; at < row.size(); ++at) {
        if (words[at]) {
            clauses.back().push_back(at);
        } else if (is_punctuation(row[at].word) && !clauses.back().empty()) {
            clauses.emplace_back();
        }
    }
    std::erase_if(clauses, [](const auto& clause) { return clause.empty(); });
    for (const std::vector<std::size_t>& clause : clauses) {
        for (const std::size_t query : clause) {
            Question question{query, clause};
            std::erase(question.right, query);
            if (clauses.size() > 1 && !question.right.empty()) {
                questions.push_back(std::move(question));
            }
        }
    }
}

}  // namespace

std::vector<CorpusQuery> parse_corpus_queries(const std::string& text) {
    if (text.starts_with("link=")) {
        const HeadQuery link = parse_head_query(text);
        return {{CorpusRule::Link, link.word, link.to}};
    }
    std::vector<CorpusQuery> queries;
    for (const CorpusRule rule : {CorpusRule::LongDistance, CorpusRule::Anaphora, CorpusRule::Structure}) {
        if (text == "all" || text == name_of(CorpusQuery{rule})) {
            queries.push_back({rule});
        }
    }
    if (queries.empty()) {
        throw UsageError("unknown search '" + text +
                         "' over a corpus; must be all, long-distance, anaphora, structure or link=WORD,WORD");
    }
    return queries;
}

std::string name_of(const CorpusQuery& query) {
    switch (query.rule) {
        case CorpusRule::Link: return "link " + query.word + ", " + query.to;
        case CorpusRule::LongDistance: return "long-distance";
        case CorpusRule::Anaphora: return "anaphora";
        case CorpusRule::Structure: return "structure";
    }
    return {};
}

const char* meaning_of(CorpusRule rule) {
    switch (rule) {
        case CorpusRule::Link: return "from the first word to the second";
        case CorpusRule::LongDistance: return "from the second of two words that belong together to the first";
        case CorpusRule::Anaphora: return "from a pronoun to the only word before it that it can stand for";
        case CorpusRule::Structure: return "from a word to another one of its clause";
    }
    return "";
}

std::vector<Question> questions_of(const std::vector<RowItem>& row, const std::vector<bool>& words,
                                   const CorpusQuery& query, bool causal) {
    const bool given = query.rule == CorpusRule::Link;
    std::vector<std::string> plain;
    for (std::size_t at = 0; at < row.size(); ++at) {
        plain.push_back(!words[at] ? "" : given ? nfkc(row[at].word) : fold_case(row[at].word));
    }
    std::vector<Question> questions;
    switch (query.rule) {
        case CorpusRule::Link: add_link(plain, nfkc(query.word), nfkc(query.to), 1, questions); break;
        case CorpusRule::LongDistance:
            for (const auto& [first, second] : kPairs) {
                add_link(plain, second, first, kFarAway, questions);
            }
            break;
        case CorpusRule::Anaphora: add_anaphora(plain, questions); break;
        case CorpusRule::Structure: add_clauses(row, words, questions); break;
    }
    // The first word of a pair is before the second.
    std::erase_if(questions, [&](Question& question) {
        if (causal || query.rule == CorpusRule::LongDistance) {
            std::erase_if(question.right, [&](std::size_t key) { return key > question.query; });
        }
        return question.right.empty();
    });
    return questions;
}

}  // namespace headscope
