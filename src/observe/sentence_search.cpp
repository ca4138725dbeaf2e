#include "observe/sentence_search.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "observe/head_search.h"
#include "observe/head_statistics.h"
#include "support/check.h"
#include "text/case.h"

namespace headscope {

namespace {

constexpr std::string_view kPronouns =
    " he him his himself she her hers herself it its itself they them their theirs themselves ";

bool is_pronoun(const std::string& word) {
    return kPronouns.find(" " + lower_case(word) + " ") != std::string_view::npos;
}

// Which columns a rule asks about. Rules about places need both to be of one text.
class Admitted {
public:
    Admitted(const SentenceQuestion& question, const SelectedAttention& content,
             const std::vector<RecordedToken>& queries, const std::vector<RecordedToken>& keys)
        : question_(question), one_text_(question.kind != AttentionKind::Cross) {
        for (const RowItem& item : content.queries) {
            from_.push_back(is_word(queries, item) &&
                            (question.rule != SentenceRule::Anaphora || is_pronoun(item.word)));
        }
        for (const RowItem& item : content.keys) {
            to_.push_back(is_word(keys, item));
        }
    }

    bool operator()(std::size_t query, std::size_t key) const {
        if (question_.query >= 0 && query != static_cast<std::size_t>(question_.query)) {
            return false;
        }
        if (question_.key >= 0 && key != static_cast<std::size_t>(question_.key)) {
            return false;
        }
        if (question_.rule == SentenceRule::Link && question_.query >= 0 && question_.key >= 0) {
            return true;
        }
        return from_[query] && to_[key] && in_place(query, key);
    }

private:
    bool in_place(std::size_t query, std::size_t key) const {
        if (!one_text_) {
            return question_.rule == SentenceRule::Link || question_.rule == SentenceRule::Structure;
        }
        const auto ahead = static_cast<std::ptrdiff_t>(query) - static_cast<std::ptrdiff_t>(key);
        switch (question_.rule) {
            case SentenceRule::Link: return std::abs(ahead) >= kNotNext;
            case SentenceRule::Anaphora: return ahead >= kNotNext;
            case SentenceRule::Previous: return ahead == 1;
            case SentenceRule::Structure: return ahead != 0;
        }
        return false;
    }

    const SentenceQuestion& question_;
    bool one_text_;  // the keys are the same words as the queries
    std::vector<bool> from_, to_;
};

// The pair whose weight exceeds the key's mean most, or has the largest weight.
std::optional<TellingHead> best_pair(const SelectedAttention& content, int head, const Admitted& admitted,
                                     bool by_weight) {
    const std::vector<double> common = common_weights(content, head);
    std::optional<TellingHead> best;
    for (std::size_t query = 0; query < content.queries.size(); ++query) {
        for (std::size_t key = 0; key < content.keys.size(); ++key) {
            const auto weight = static_cast<double>(content.weight(head, query, key));
            const double score = by_weight ? weight : weight - common[key];
            if (admitted(query, key) && weight > 0.0 && (!best.has_value() || score > best->score)) {
                best = TellingHead{.head = head, .score = score, .query = query, .key = key, .weight = weight};
            }
        }
    }
    return best;
}

// Scores a head by HeadRule::Structure; false if it follows position or the end of the sentence.
bool score_structure(const AttentionRecord& record, const SiteWeights& weights, const SelectedAttention& content,
                     TellingHead& found) {
    const HeadStatistics statistics = statistics_of(record, weights, found.head);
    found.score = strongest_beyond(content, found.head);
    return statistics.on_diagonal() <= kPositional && statistics.on_end <= kOnEnd;
}

}  // namespace

const SentenceRuleLabels& labels_of(SentenceRule rule) {
    return kSentenceRules.at(static_cast<std::size_t>(rule));
}

std::vector<TellingHead> rank_heads(const AttentionRecord& record, const SentenceQuestion& question) {
    const bool by_weight = question.rule == SentenceRule::Link && question.query >= 0 && question.key >= 0;
    std::vector<TellingHead> found;
    for (const SiteWeights& weights : record.sites) {
        if (weights.site.kind != question.kind) {
            continue;
        }
        const SelectedAttention content =
            select_attention(record, {.kind = question.kind, .layer = weights.site.layer + 1, .rows = question.rows});
        const Admitted admitted(question, content, query_tokens(record, question.kind),
                                key_tokens(record, question.kind));
        for (int head = 1; head <= content.model_heads; ++head) {
            std::optional<TellingHead> best = best_pair(content, head, admitted, by_weight);
            if (!best.has_value() ||
                (question.rule == SentenceRule::Structure && !score_structure(record, weights, content, *best))) {
                continue;
            }
            best->site = weights.site;
            best->from = content.queries[best->query].label;
            best->to = content.keys[best->key].label;
            found.push_back(std::move(*best));
        }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const TellingHead& a, const TellingHead& b) { return a.score > b.score; });
    return found;
}

std::optional<TellingHead> most_telling(const AttentionRecord& record, AttentionKind kind, const RowOptions& rows) {
    std::optional<TellingHead> best;
    for (const SentenceRule rule :
         {SentenceRule::Anaphora, SentenceRule::Link, SentenceRule::Structure, SentenceRule::Previous}) {
        const std::vector<TellingHead> ranking = rank_heads(record, {.rule = rule, .kind = kind, .rows = rows});
        if (ranking.empty()) {
            continue;
        }
        if (ranking.front().score >= kTelling) {
            return ranking.front();
        }
        if (!best.has_value() || ranking.front().score > best->score) {
            best = ranking.front();
        }
    }
    return best;
}

}  // namespace headscope
