#include "trees/tree_score.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "support/counted.h"

namespace headscope {

namespace {

struct Bracket {
    std::string label;
    std::size_t begin = 0, end = 0;  // words
    bool counts = true;
    bool matched = false;
};

struct Word {
    std::string tag, word;
};

// A word whose tag may be wrong, so that only one of two trees has it deleted.
struct Quote {
    Word word;
    std::size_t place = 0;          // among the words that are not deleted
    std::size_t next_bracket = 0;   // the first bracket after it
    std::vector<std::size_t> open;  // the brackets around it
};

struct Sentence {
    std::vector<Word> words;  // without deleted ones
    std::vector<Bracket> brackets;
    std::vector<Quote> quotes;
    std::int64_t length = 0;
};

class Flattener {
public:
    explicit Flattener(const ScoreRules& rules) : rules_(rules) {}

    Sentence flat(const std::vector<Tree>& trees) {
        for (const Tree& tree : trees) {
            add(tree);
        }
        return std::move(sentence_);
    }

private:
    void add(const Tree& tree) {
        if (tree.is_leaf()) {
            add_word({tree.label, tree.word});
            return;
        }
        const std::size_t bracket = sentence_.brackets.size();
        sentence_.brackets.push_back({tree.label.substr(0, tree.label.find_first_of("-=")), sentence_.words.size()});
        open_.push_back(bracket);
        for (const Tree& child : tree.children) {
            add(child);
        }
        open_.pop_back();
        sentence_.brackets[bracket].end = sentence_.words.size();
    }

    void add_word(Word word) {
        sentence_.length += rules_.counts_for_length(word.tag) ? 1 : 0;
        if (rules_.is_quote(word.tag, word.word)) {
            sentence_.quotes.push_back({word, sentence_.words.size(), sentence_.brackets.size(), open_});
        }
        if (!rules_.is_deleted(word.tag)) {
            sentence_.words.push_back(std::move(word));
        }
    }

    const ScoreRules& rules_;
    Sentence sentence_;
    std::vector<std::size_t> open_;
};

// Puts a deleted quote back.
void reinsert(Sentence& sentence, std::size_t number) {
    const Quote quote = sentence.quotes[number];
    sentence.words.insert(sentence.words.begin() + static_cast<std::ptrdiff_t>(quote.place), quote.word);
    for (std::size_t i = quote.next_bracket; i < sentence.brackets.size(); ++i) {
        ++sentence.brackets[i].begin;
        ++sentence.brackets[i].end;
    }
    for (const std::size_t i : quote.open) {
        ++sentence.brackets[i].end;
    }
    for (std::size_t i = number; i < sentence.quotes.size(); ++i) {
        ++sentence.quotes[i].place;
    }
}

// Puts quotes back that only one of the sentences has deleted.
void balance_quotes(Sentence& gold, Sentence& test, const ScoreRules& rules) {
    for (std::size_t i = 0; i < test.quotes.size(); ++i) {
        const std::size_t place = test.quotes[i].place;
        for (std::size_t j = 0; j < gold.quotes.size(); ++j) {
            const std::string& gold_tag = gold.quotes[j].word.tag;
            const std::string& test_tag = test.quotes[i].word.tag;
            if (gold.quotes[j].place != place || gold_tag == test_tag ||
                rules.is_deleted(gold_tag) == rules.is_deleted(test_tag)) {
                continue;
            }
            if (rules.is_deleted(gold_tag)) {
                reinsert(gold, j);
            } else {
                reinsert(test, i);
            }
        }
    }
}

// Why two sentences cannot be compared; empty if they can.
std::string mismatch(const Sentence& gold, const Sentence& test, const ScoreRules& rules) {
    if (gold.words.size() != test.words.size()) {
        return fmt::format("the gold tree has {} that {}, the other one {}", counted(gold.words.size(), "word"),
                           gold.words.size() == 1 ? "counts" : "count", test.words.size());
    }
    for (std::size_t i = 0; i < gold.words.size(); ++i) {
        if (!rules.same_word(gold.words[i].word, test.words[i].word)) {
            return fmt::format("the gold tree has the word \"{}\", the other one \"{}\"", gold.words[i].word,
                               test.words[i].word);
        }
    }
    return "";
}

// Returns how many brackets count: those with words, whose label is not deleted.
std::int64_t count_brackets(std::vector<Bracket>& brackets, const ScoreRules& rules) {
    for (Bracket& bracket : brackets) {
        const bool deleted = std::any_of(rules.deleted.begin(), rules.deleted.end(), [&](const std::string& label) {
            return rules.same_label(label, bracket.label);
        });
        bracket.counts = bracket.begin < bracket.end && !deleted;
    }
    return std::count_if(brackets.begin(), brackets.end(), [](const Bracket& bracket) { return bracket.counts; });
}

std::int64_t match(std::vector<Bracket>& gold, std::vector<Bracket>& test, const ScoreRules& rules) {
    std::int64_t matched = 0;
    for (const Bracket& wanted : gold) {
        const auto found = std::find_if(test.begin(), test.end(), [&](const Bracket& bracket) {
            return wanted.counts && bracket.counts && !bracket.matched && bracket.begin == wanted.begin &&
                   bracket.end == wanted.end && (!rules.labelled || rules.same_label(bracket.label, wanted.label));
        });
        if (found != test.end()) {
            found->matched = true;
            ++matched;
        }
    }
    return matched;
}

bool cross(const Bracket& a, const Bracket& b) {
    return (a.begin < b.begin && a.end > b.begin && a.end < b.end) ||
           (a.begin > b.begin && a.begin < b.end && a.end > b.end);
}

std::int64_t count_crossing(const std::vector<Bracket>& gold, const std::vector<Bracket>& test) {
    return std::count_if(test.begin(), test.end(), [&](const Bracket& bracket) {
        return bracket.counts && std::any_of(gold.begin(), gold.end(), [&](const Bracket& wanted) {
                   return wanted.counts && cross(wanted, bracket);
               });
    });
}

double percent(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

}  // namespace

TreeScore score_trees(const std::vector<Tree>& gold_trees, const std::vector<Tree>& test_trees,
                      const ScoreRules& rules) {
    Sentence gold = Flattener(rules).flat(gold_trees);
    Sentence test = Flattener(rules).flat(test_trees);
    TreeScore score{.length = gold.length};
    if (test.words.empty()) {
        score.status = ScoreStatus::Skipped;
        return score;
    }
    if (gold.words.size() != test.words.size()) {
        balance_quotes(gold, test, rules);
    }
    score.problem = mismatch(gold, test, rules);
    if (!score.problem.empty()) {
        score.status = ScoreStatus::Error;
        return score;
    }
    score.gold = count_brackets(gold.brackets, rules);
    score.test = count_brackets(test.brackets, rules);
    score.matched = match(gold.brackets, test.brackets, rules);
    score.crossing = count_crossing(gold.brackets, test.brackets);
    for (std::size_t i = 0; i < gold.words.size(); ++i) {
        ++score.words;
        score.tags += rules.same_label(gold.words[i].tag, test.words[i].tag) ? 1 : 0;
    }
    return score;
}

void ScoreTotals::add(const TreeScore& score) {
    ++sentences;
    errors += score.status == ScoreStatus::Error ? 1 : 0;
    skipped += score.status == ScoreStatus::Skipped ? 1 : 0;
    if (score.status != ScoreStatus::Valid) {
        return;
    }
    exact += score.exact() ? 1 : 0;
    no_crossing += score.crossing == 0 ? 1 : 0;
    few_crossing += score.crossing <= 2 ? 1 : 0;
    matched += score.matched;
    gold += score.gold;
    test += score.test;
    crossing += score.crossing;
    words += score.words;
    tags += score.tags;
}

double ScoreTotals::recall() const {
    return percent(matched, gold);
}

double ScoreTotals::precision() const {
    return percent(matched, test);
}

double ScoreTotals::f1() const {
    const double sum = precision() + recall();
    return sum > 0.0 ? 2.0 * precision() * recall() / sum : std::numeric_limits<double>::quiet_NaN();
}

double ScoreTotals::tag_accuracy() const {
    return percent(tags, words);
}

double ScoreTotals::share(std::int64_t count) const {
    return percent(count, valid());
}

}  // namespace headscope
