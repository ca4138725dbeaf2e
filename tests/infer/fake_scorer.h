// A scorer without a model: the probabilities are a function of sentence and prefix.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "infer/beam_search.h"

namespace headscope {

// Ids of the fake vocabulary; words follow.
constexpr std::int32_t kPad = 0, kBos = 1, kEos = 2, kUnk = 3, kFirstWord = 4;

inline TokenRules fake_rules() {
    return {.eos = kEos, .forbidden = {kPad, kBos, kUnk}};
}

class FakeScorer final : public Scorer {
public:
    using Prefix = std::vector<std::int32_t>;  // without bos
    // Log probabilities of the whole vocabulary after a prefix of a sentence.
    using Table = std::function<std::vector<float>(std::int64_t sentence, const Prefix& prefix)>;

    FakeScorer(std::int64_t sentences, std::int64_t vocabulary, Table table);

    std::int64_t vocabulary() const override { return vocabulary_; }
    const NextTokens& step(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents,
                           int k) override;
    const NextTokens& step_until(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents,
                                 int k, int most, const std::function<bool(const NextTokens&)>& enough) override;
    const AllTokens& step_all(const std::vector<std::int32_t>& tokens,
                              const std::vector<std::int32_t>& parents) override;

    std::int64_t steps() const { return steps_; }
    std::int64_t rows_scored() const { return rows_scored_; }
    std::int64_t whole_steps() const { return whole_steps_; }  // steps with all tokens
    int most_ranked() const { return most_ranked_; }           // tokens per row of a step

private:
    struct Row {
        std::int64_t sentence = 0;
        Prefix prefix;
    };
    const NextTokens& rank(int k);
    void move_rows(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents);

    std::int64_t vocabulary_;
    Table table_;
    std::vector<Row> rows_;
    NextTokens next_;
    AllTokens all_;
    std::int64_t steps_ = 0;
    std::int64_t rows_scored_ = 0;
    std::int64_t whole_steps_ = 0;
    int most_ranked_ = 0;
};

// Pseudo-random, reproducible probabilities; `eos_logit` raises or lowers that of eos.
FakeScorer::Table random_table(std::uint64_t seed, std::int64_t vocabulary, float eos_logit = 0.0F);

// The highest score of all outputs that end within `limit` tokens or are cut there, and that output.
Hypothesis exhaustive_best(const FakeScorer::Table& table, std::int64_t sentence, std::int64_t vocabulary,
                           std::int64_t limit, double alpha);
// All of them, best first, with the penalty and the repetition rule of `options`.
std::vector<Hypothesis> exhaustive(const FakeScorer::Table& table, std::int64_t sentence, std::int64_t vocabulary,
                                   std::int64_t limit, const SearchOptions& options);

}  // namespace headscope
