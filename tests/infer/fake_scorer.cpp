#include "fake_scorer.h"

#include <algorithm>
#include <numeric>

#include "support/check.h"
#include "support/random.h"

namespace headscope {

FakeScorer::FakeScorer(std::int64_t sentences, std::int64_t vocabulary, Table table)
    : vocabulary_(vocabulary), table_(std::move(table)) {
    for (std::int64_t sentence = 0; sentence < sentences; ++sentence) {
        rows_.push_back({sentence, {}});
    }
}

const NextTokens& FakeScorer::step(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents,
                                   int k) {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        Row row = rows_.at(static_cast<std::size_t>(parents[i]));
        if (steps_ == 0) {
            HEADSCOPE_CHECK(tokens[i] == kBos, "an output starts from bos");
        } else {
            row.prefix.push_back(tokens[i]);
        }
        rows.push_back(std::move(row));
    }
    rows_ = std::move(rows);
    ++steps_;
    rows_scored_ += static_cast<std::int64_t>(rows_.size());
    next_ = {.rows = static_cast<std::int64_t>(rows_.size()), .k = k, .log_probabilities = {}, .tokens = {}};
    for (const Row& row : rows_) {
        const std::vector<float> all = table_(row.sentence, row.prefix);
        std::vector<std::int32_t> order(all.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return all[a] > all[b]; });
        for (int rank = 0; rank < k; ++rank) {
            next_.tokens.push_back(order[rank]);
            next_.log_probabilities.push_back(all[order[rank]]);
        }
    }
    return next_;
}

FakeScorer::Table random_table(std::uint64_t seed, std::int64_t vocabulary, float eos_logit) {
    return [=](std::int64_t sentence, const FakeScorer::Prefix& prefix) {
        std::uint64_t key = mix_bits(seed + 1) ^ mix_bits(~static_cast<std::uint64_t>(sentence));
        for (const std::int32_t token : prefix) {
            key = mix_bits(key * 31 + static_cast<std::uint64_t>(token));
        }
        Random random(key);
        std::vector<float> logits(static_cast<std::size_t>(vocabulary));
        for (float& logit : logits) {
            logit = static_cast<float>(random.below(6000)) / 1000.0F - 3.0F;
        }
        logits[kEos] += eos_logit;
        double total = 0.0;
        for (const float logit : logits) {
            total += std::exp(static_cast<double>(logit));
        }
        for (float& logit : logits) {
            logit -= static_cast<float>(std::log(total));
        }
        return logits;
    };
}

namespace {

struct Exhaustive {
    const FakeScorer::Table& table;
    std::int64_t sentence, vocabulary, limit;
    double alpha;
    Hypothesis best;
    bool found = false;

    void visit(const FakeScorer::Prefix& prefix, double log_probability) {
        const std::vector<float> next = table(sentence, prefix);
        FakeScorer::Prefix longer = prefix;
        longer.push_back(kEos);
        const double ended = log_probability + static_cast<double>(next[kEos]);
        const double score = ended / length_penalty(static_cast<std::int64_t>(longer.size()), alpha);
        if (!found || score > best.score) {
            best = {longer, ended, score, EndReason::EndOfSentence};
            found = true;
        }
        for (std::int32_t word = kFirstWord; word < vocabulary && static_cast<std::int64_t>(longer.size()) < limit;
             ++word) {
            longer.back() = word;
            visit(longer, log_probability + static_cast<double>(next[word]));
        }
    }
};

}  // namespace

Hypothesis exhaustive_best(const FakeScorer::Table& table, std::int64_t sentence, std::int64_t vocabulary,
                           std::int64_t limit, double alpha) {
    Exhaustive all{table, sentence, vocabulary, limit, alpha, {}, false};
    all.visit({}, 0.0);
    return all.best;
}

}  // namespace headscope
