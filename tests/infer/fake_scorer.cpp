#include "fake_scorer.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "support/check.h"
#include "support/random.h"

namespace headscope {

FakeScorer::FakeScorer(std::int64_t sentences, std::int64_t vocabulary, Table table)
    : vocabulary_(vocabulary), table_(std::move(table)) {
    for (std::int64_t sentence = 0; sentence < sentences; ++sentence) {
        rows_.push_back({sentence, {}});
    }
}

void FakeScorer::move_rows(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents) {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        Row row = rows_.at(static_cast<std::size_t>(parents[i]));
        if (steps_ == 0) {
            HEADSCOPE_CHECK(tokens[i] == kBos, "an output must start with bos");
        } else {
            row.prefix.push_back(tokens[i]);
        }
        rows.push_back(std::move(row));
    }
    rows_ = std::move(rows);
    ++steps_;
    rows_scored_ += static_cast<std::int64_t>(rows_.size());
}

const AllTokens& FakeScorer::step_all(const std::vector<std::int32_t>& tokens,
                                      const std::vector<std::int32_t>& parents) {
    move_rows(tokens, parents);
    ++whole_steps_;
    all_ = {.rows = static_cast<std::int64_t>(rows_.size()), .vocabulary = vocabulary_, .log_probabilities = {}};
    for (const Row& row : rows_) {
        const std::vector<float> next = table_(row.sentence, row.prefix);
        all_.log_probabilities.insert(all_.log_probabilities.end(), next.begin(), next.end());
    }
    return all_;
}

const NextTokens& FakeScorer::step(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents,
                                   int k) {
    move_rows(tokens, parents);
    return rank(k);
}

const NextTokens& FakeScorer::step_until(const std::vector<std::int32_t>& tokens,
                                         const std::vector<std::int32_t>& parents, int k, int most,
                                         const std::function<bool(const NextTokens&)>& enough) {
    step(tokens, parents, k);
    return enough(next_) ? next_ : rank(most);
}

const NextTokens& FakeScorer::rank(int k) {
    HEADSCOPE_CHECK(k >= 1 && k <= std::min<std::int64_t>(vocabulary_, kMostRanked), "more tokens than a device ranks");
    most_ranked_ = std::max(most_ranked_, k);
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

bool repeats(const FakeScorer::Prefix& written, int n) {
    std::set<FakeScorer::Prefix> seen;
    for (auto from = written.begin(); n > 0 && written.end() - from >= n; ++from) {
        if (!seen.emplace(from, from + n).second) {
            return true;
        }
    }
    return false;
}

struct Exhaustive {
    const FakeScorer::Table& table;
    std::int64_t sentence, vocabulary, limit;
    const SearchOptions& options;
    std::vector<Hypothesis> found;

    void visit(const FakeScorer::Prefix& prefix, double log_probability) {
        const std::vector<float> next = table(sentence, prefix);
        FakeScorer::Prefix longer = prefix;
        longer.push_back(kEos);
        const double ended = log_probability + static_cast<double>(next[kEos]);
        if (static_cast<std::int64_t>(prefix.size()) >= std::min(options.min_length, limit - 1)) {
            found.push_back({longer, ended, ended / length_penalty(static_cast<std::int64_t>(longer.size()), options),
                             EndReason::EndOfSentence});
        }
        for (std::int32_t word = kFirstWord; word < vocabulary; ++word) {
            longer.back() = word;
            const double sum = log_probability + static_cast<double>(next[word]);
            if (repeats(longer, options.no_repeat_ngram)) {
                continue;
            }
            if (static_cast<std::int64_t>(longer.size()) < limit) {
                visit(longer, sum);
            } else {
                found.push_back({longer, sum, sum / length_penalty(limit, options), EndReason::Limit});
            }
        }
    }
};

}  // namespace

std::vector<Hypothesis> exhaustive(const FakeScorer::Table& table, std::int64_t sentence, std::int64_t vocabulary,
                                   std::int64_t limit, const SearchOptions& options) {
    Exhaustive all{table, sentence, vocabulary, limit, options, {}};
    all.visit({}, 0.0);
    std::stable_sort(all.found.begin(), all.found.end(),
                     [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
    return all.found;
}

Hypothesis exhaustive_best(const FakeScorer::Table& table, std::int64_t sentence, std::int64_t vocabulary,
                           std::int64_t limit, double alpha) {
    return exhaustive(table, sentence, vocabulary, limit, {.length_penalty = alpha}).front();
}

}  // namespace headscope
