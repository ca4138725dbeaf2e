#include "observe/corpus_search.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "observe/head_search.h"
#include "support/check.h"
#include "support/random.h"

namespace headscope {

namespace {

bool holds(const std::vector<std::size_t>& right, std::size_t key) {
    return std::find(right.begin(), right.end(), key) != right.end();
}

// The words that can be an answer.
std::vector<std::size_t> answers_to(const Question& question, const std::vector<bool>& words, bool causal) {
    std::vector<std::size_t> answers;
    for (std::size_t key = 0; key < words.size(); ++key) {
        if (words[key] && key != question.query && (!causal || key < question.query)) {
            answers.push_back(key);
        }
    }
    return answers;
}

// Empty if no word gets more than all queries give to it.
std::optional<std::size_t> answer_of(const SelectedAttention& content, int head, const std::vector<double>& common,
                                     std::size_t query, const std::vector<std::size_t>& answers) {
    std::optional<std::size_t> answer;
    double most = 1e-6;  // more than rounding
    for (const std::size_t key : answers) {
        const double beyond = static_cast<double>(content.weight(head, query, key)) - common[key];
        if (beyond > most) {
            answer = key;
            most = beyond;
        }
    }
    return answer;
}

// The 95 % interval of the mean of sums / counts over sentences drawn again with replacement.
Interval bootstrap(const std::vector<std::pair<double, double>>& sums_and_counts) {
    constexpr int kSamples = 1000;
    Random random(1);
    std::vector<double> means;
    for (int sample = 0; sample < kSamples; ++sample) {
        double sum = 0.0;
        double count = 0.0;
        for (std::size_t i = 0; i < sums_and_counts.size(); ++i) {
            const auto& [more, questions] = sums_and_counts[random.below(sums_and_counts.size())];
            sum += more;
            count += questions;
        }
        means.push_back(sum / count);
    }
    std::sort(means.begin(), means.end());
    return {means[kSamples / 40], means[kSamples - 1 - kSamples / 40]};
}

}  // namespace

CorpusSearch::CorpusSearch(CorpusQuery query, AttentionKind kind, bool join_words)
    : query_(std::move(query)), kind_(kind), rows_{.join_words = join_words}, offsets_(2 * kFarthest + 1) {
    if (kind == AttentionKind::Cross) {
        throw Error("over a corpus only self-attention can be searched: --kind must be encoder or decoder");
    }
}

void CorpusSearch::add(const AttentionRecord& record) {
    const std::vector<RecordedToken>& tokens = query_tokens(record, kind_);
    const std::vector<RowItem> row = make_row(tokens, rows_);
    std::vector<bool> words;
    for (const RowItem& item : row) {
        words.push_back(is_word(tokens, item));
    }
    const std::vector<Question> questions = questions_of(row, words, query_, kind_ == AttentionKind::DecoderSelf);
    if (!questions.empty()) {
        add_answers(record, questions, words);
        sentence_.resize(sentence_.size() + questions.size(), sentences_++);
    }
}

void CorpusSearch::add_answers(const AttentionRecord& record, const std::vector<Question>& questions,
                               const std::vector<bool>& words) {
    std::vector<std::vector<std::size_t>> answers;
    for (const Question& question : questions) {
        answers.push_back(answers_to(question, words, kind_ == AttentionKind::DecoderSelf));
        uniform_.push_back(static_cast<double>(question.right.size()) / static_cast<double>(answers.back().size()));
        for (int offset = -kFarthest; offset <= kFarthest; ++offset) {
            const auto key = static_cast<std::ptrdiff_t>(question.query) + offset;
            offsets_[static_cast<std::size_t>(offset + kFarthest)].push_back(
                key >= 0 && holds(question.right, static_cast<std::size_t>(key)));
        }
    }
    std::size_t at = 0;
    for (const SiteWeights& weights : record.sites) {
        if (weights.site.kind != kind_) {
            continue;
        }
        const SelectedAttention content =
            select_attention(record, {.kind = kind_, .layer = weights.site.layer + 1, .rows = rows_});
        for (int head = 1; head <= content.model_heads; ++head, ++at) {
            if (at == heads_.size()) {
                heads_.push_back({weights.site, head, {}});
            }
            const std::vector<double> common = common_weights(content, head);
            for (std::size_t i = 0; i < questions.size(); ++i) {
                const auto answer = answer_of(content, head, common, questions[i].query, answers[i]);
                heads_[at].right.push_back(answer.has_value() && holds(questions[i].right, *answer));
            }
        }
    }
}

std::int64_t CorpusSearch::count(const std::vector<bool>& right, bool measured) const {
    std::int64_t found = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
        found += right[i] && (sentence_[i] % 2 == 1) == measured ? 1 : 0;
    }
    return found;
}

BaselineResult CorpusSearch::compared(std::string name, const std::vector<bool>& head,
                                      const std::vector<double>& baseline) const {
    std::vector<std::pair<double, double>> by_sentence(static_cast<std::size_t>(sentences_ / 2));
    double sum = 0.0;
    double more = 0.0;
    double questions = 0.0;
    for (std::size_t i = 0; i < sentence_.size(); ++i) {
        if (sentence_[i] % 2 == 0) {
            continue;
        }
        const double difference = (head[i] ? 1.0 : 0.0) - baseline[i];
        auto& [of_sentence, count] = by_sentence[static_cast<std::size_t>(sentence_[i] / 2)];
        of_sentence += difference;
        count += 1.0;
        sum += baseline[i];
        more += difference;
        questions += 1.0;
    }
    return {std::move(name), sum / questions, more / questions, bootstrap(by_sentence)};
}

CorpusFinding CorpusSearch::result() const {
    if (sentences_ < 2) {
        throw Error(
            fmt::format("{}: {} with a question; the search needs two or more, of which one half chooses the "
                        "head and the other measures it: give 1,000 sentences or more",
                        name_of(query_), sentences_ == 0 ? "no sentence" : "1 sentence"));
    }
    const auto all = static_cast<std::int64_t>(sentence_.size());
    const std::int64_t measured = count(std::vector<bool>(sentence_.size(), true), true);
    const auto best = std::max_element(heads_.begin(), heads_.end(), [&](const Answers& a, const Answers& b) {
        return count(a.right, false) < count(b.right, false);
    });
    const auto offset = std::max_element(offsets_.begin(), offsets_.end(), [&](const auto& a, const auto& b) {
        return count(a, false) < count(b, false);
    });
    const auto rate = [&](const std::vector<bool>& right, bool of_measured) -> AnswerRate {
        const std::int64_t questions = of_measured ? measured : all - measured;
        const std::int64_t found = count(right, of_measured);
        return {static_cast<double>(found) / static_cast<double>(questions), wilson_interval(found, questions)};
    };
    CorpusFinding finding{.query = query_,
                          .sentences = sentences_,
                          .questions = measured,
                          .site = best->site,
                          .head = best->head,
                          .chosen = rate(best->right, false),
                          .measured = rate(best->right, true),
                          .baselines = {},
                          .heads = static_cast<int>(heads_.size())};
    const auto numbers = [](const std::vector<bool>& right) { return std::vector<double>(right.begin(), right.end()); };
    finding.baselines.push_back(compared("previous word", best->right, numbers(offsets_[kFarthest - 1])));
    finding.baselines.push_back(
        compared(fmt::format("offset {:+}", offset - offsets_.begin() - kFarthest), best->right, numbers(*offset)));
    finding.baselines.push_back(compared("uniform", best->right, uniform_));
    double strongest = 0.0;
    for (const BaselineResult& baseline : finding.baselines) {
        strongest = std::max(strongest, baseline.rate);
    }
    finding.better = static_cast<int>(std::count_if(
        heads_.begin(), heads_.end(), [&](const Answers& one) { return rate(one.right, true).rate > strongest; }));
    return finding;
}

}  // namespace headscope
