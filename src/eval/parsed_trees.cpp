#include "eval/parsed_trees.h"

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "support/check.h"
#include "trees/tree_rules.h"
#include "trees/tree_vocabulary.h"

namespace headscope {

DecodingOptions paper_tree_search() {
    DecodingOptions options;
    options.search.beam = kTreeBeam;
    options.search.length_penalty = kTreePenalty;
    options.search.max_extra = kExtraSymbols;
    return options;
}

Terminals require_terminals(const ModelDirectory& model) {
    if (const std::optional<Terminals> terminals = terminals_in(*model.target_tokenizer)) {
        return *terminals;
    }
    throw Error(fmt::format("'{}' does not write trees: train a model on headscope trees linearise (docs/parsing.md)",
                            model.path));
}

void keep_to_trees(DecodingOptions& options, const ModelDirectory& model, Terminals terminals) {
    options.search.n_best = options.search.beam;
    options.split_longer_than = 0;
    const std::shared_ptr<const TreeRules> rules = tree_rules(*model.target_tokenizer, terminals);
    options.rule_for = [rules](std::string_view text) {
        const auto words = static_cast<std::int64_t>(split_at_blanks(text).size());
        return
            [rules, words](const std::vector<std::int32_t>& written) { return rules->forbidden_after(written, words); };
    };
}

Restored found_tree(const TextResult& found, const std::vector<std::string>& words,
                    const std::vector<std::string>* tags, Terminals terminals) {
    std::vector<std::string> sequences;
    for (const Translation& one : found.n_best) {
        sequences.push_back(one.text);
    }
    return best_restored(sequences, words, tags, terminals);
}

double percent_of(const ScoreTotals& totals) {
    return totals.matched == 0 ? 0.0 : totals.f1();
}

TreeScores score_trees_of(const ParallelText& pairs, Terminals terminals,
                          const std::function<Tree(std::size_t pair, const std::vector<std::string>& words,
                                                   const std::vector<std::string>& tags)>& tree_of) {
    constexpr std::int64_t kStep = 10;
    TreeScores scores;
    for (std::size_t i = 0; i < pairs.source.size(); ++i) {
        const std::vector<std::string> words = split_at_blanks(pairs.source[i]);
        std::vector<Tree> gold;
        std::vector<Tree> test;
        if (!words.empty()) {
            Restored right = restored(pairs.target[i], words, nullptr, terminals);
            if (!right.repairs.any()) {
                test.push_back(tree_of(i, words, split_at_blanks(tags_of(right.tree))));
                gold.push_back(std::move(right.tree));
            }
        }
        const TreeScore score = score_trees(gold, test, ScoreRules());
        scores.all.add(score);
        if (score.status == ScoreStatus::Valid) {
            scores.by_length[(score.length - 1) / kStep * kStep + 1].add(score);
        }
    }
    return scores;
}

TreeScores score_found_trees(const ParallelText& pairs, const std::vector<TextResult>& found, Terminals terminals) {
    return score_trees_of(
        pairs, terminals,
        [&](std::size_t pair, const std::vector<std::string>& words, const std::vector<std::string>& tags) {
            return found.at(pair).problem.empty() ? found_tree(found[pair], words, &tags, terminals).tree
                                                  : restored("", words, &tags, terminals).tree;
        });
}

}  // namespace headscope
