#include "observe/head_search.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {

namespace {

struct Measure {
    bool admitted = false;
    double value = 0.0;
    std::string what;
};

int words_between(std::size_t query, std::size_t key) {
    return std::abs(static_cast<int>(query) - static_cast<int>(key));
}

// The mean weight on a key over all occurrences of the query word.
double mass(const SelectedAttention& content, int head, const std::vector<std::size_t>& queries, std::size_t key) {
    double sum = 0.0;
    for (const std::size_t query : queries) {
        sum += static_cast<double>(content.weight(head, query, key));
    }
    return sum / static_cast<double>(queries.size());
}

Measure link(const SelectedAttention& content, int head, const HeadQuery& query) {
    double sum = 0.0;
    for (const std::size_t key : find_word(content.keys, query.to)) {
        sum += mass(content, head, find_word(content.queries, query.word), key);
    }
    return {true, sum, fmt::format("{} \u2192 {} {:.2f}", query.word, query.to, sum)};
}

Measure far_from(const SelectedAttention& content, const std::vector<RecordedToken>& keys, int head,
                 const HeadQuery& query) {
    const std::vector<std::size_t> queries = find_word(content.queries, query.word);
    const std::vector<double> common = common_weights(content, head);
    double sum = 0.0;
    double beyond = 0.0;
    for (std::size_t key = 0; key < content.keys.size(); ++key) {
        if (is_word(keys, content.keys[key]) && words_between(queries.front(), key) >= kFarAway) {
            const double weight = mass(content, head, queries, key);
            sum += weight;
            beyond += std::max(0.0, weight - common[key]);
        }
    }
    return {true, beyond,
            fmt::format("{} looks {} words away or more with {:.2f}, {:.2f} beyond what all words do", query.word,
                        kFarAway, sum, beyond)};
}

Measure stands_for(const SelectedAttention& content, const std::vector<RecordedToken>& keys, int head,
                   const HeadQuery& query) {
    const std::vector<std::size_t> queries = find_word(content.queries, query.word);
    const std::vector<double> common = common_weights(content, head);
    Measure best;
    for (std::size_t key = 0; key + kNotNext <= queries.front(); ++key) {
        const double weight = mass(content, head, queries, key);
        const double beyond = weight - common[key];
        if (is_word(keys, content.keys[key]) && (!best.admitted || beyond > best.value)) {
            best = {true, beyond,
                    fmt::format("{} \u2192 {} {:.2f}, {:.2f} beyond what all words do", query.word,
                                content.keys[key].label, weight, beyond)};
        }
    }
    return best;
}

Measure far_reaching(const HeadStatistics& statistics) {
    return {statistics.sharpness >= kSharp, statistics.distance,
            fmt::format("mean distance {:.1f}, sharpness {:.2f}", statistics.distance, statistics.sharpness)};
}

Measure structured(const SelectedAttention& content, const HeadStatistics& statistics) {
    const double mean = strongest_beyond(content, statistics.head);
    return {
        statistics.on_diagonal() <= kPositional && statistics.on_end <= kOnEnd, mean,
        fmt::format("{:.2f} beyond what all words look at, {:.2f} on the diagonal", mean, statistics.on_diagonal())};
}

Measure at_places(const HeadStatistics& statistics, const PlaceRule& rule) {
    const std::optional<double> value = rule.value(statistics);
    return {value.has_value() && !statistics.off, value.value_or(0.0),
            fmt::format("{:.2f} {}", value.value_or(0.0), rule.found)};
}

const PlaceRule* place_rule(HeadRule rule) {
    const auto* const found = std::ranges::find(kPlaceRules, rule, &PlaceRule::rule);
    return found == kPlaceRules.end() ? nullptr : found;
}

}  // namespace

bool asks_for_places(HeadRule rule) {
    return place_rule(rule) != nullptr;
}

bool is_word(const std::vector<RecordedToken>& tokens, const RowItem& item) {
    const TokenKind kind = tokens[static_cast<std::size_t>(item.first)].kind;
    return (kind == TokenKind::Piece || kind == TokenKind::Unknown) && !is_punctuation(item.word);
}

std::vector<double> common_weights(const SelectedAttention& content, int head) {
    std::vector<std::size_t> all(content.queries.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::vector<double> common;
    for (std::size_t key = 0; key < content.keys.size(); ++key) {
        common.push_back(mass(content, head, all, key));
    }
    return common;
}

double strongest_beyond(const SelectedAttention& content, int head) {
    const std::vector<double> common = common_weights(content, head);
    double sum = 0.0;
    for (std::size_t query = 0; query < content.queries.size(); ++query) {
        double largest = 0.0;
        for (std::size_t key = 0; key < content.keys.size(); ++key) {
            largest = std::max(largest, static_cast<double>(content.weight(head, query, key)) - common[key]);
        }
        sum += largest;
    }
    return sum / static_cast<double>(std::max<std::size_t>(content.queries.size(), 1));
}

HeadQuery parse_head_query(const std::string& text) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const std::string words = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (name == "link") {
        const std::vector<std::string> both = named_words(words);
        if (both.size() == 2 && !both[0].empty() && !both[1].empty()) {
            return {HeadRule::Link, both[0], both[1]};
        }
        if (both.size() > 2) {
            throw UsageError(
                fmt::format("'{}' has {} words, but a link takes two: escape a comma within a word as \\, as in "
                            "link=1\\,000,euros",
                            text, both.size()));
        }
    }
    if (name == "long-distance" && (equals == std::string::npos || !words.empty())) {
        return {HeadRule::LongDistance, named_word(words)};
    }
    if (name == "anaphora" && !words.empty()) {
        return {HeadRule::Anaphora, named_word(words)};
    }
    if (name == "structure" && equals == std::string::npos) {
        return {HeadRule::Structure};
    }
    for (const PlaceRule& rule : kPlaceRules) {
        if (text == rule.name) {
            return {rule.rule};
        }
    }
    std::string places;
    for (const PlaceRule& rule : kPlaceRules) {
        places += fmt::format("{}{}", &rule == &kPlaceRules.back() ? " or " : ", ", rule.name);
    }
    throw UsageError(
        fmt::format("unknown head search '{}'; must be link=WORD,WORD, long-distance, long-distance=WORD, "
                    "anaphora=WORD, structure{}",
                    text, places));
}

std::vector<FoundHead> find_heads(const AttentionRecord& record, const AttentionSelection& selection,
                                  const HeadQuery& query) {
    std::vector<FoundHead> found;
    for (const SiteWeights& weights : record.sites) {
        if (weights.site.kind != selection.kind) {
            continue;
        }
        AttentionSelection layer = selection;
        layer.layer = weights.site.layer + 1;
        layer.heads = {};
        const SelectedAttention content = select_attention(record, layer);
        const std::vector<RecordedToken>& keys = key_tokens(record, selection.kind);
        for (int head = 1; head <= content.model_heads; ++head) {
            Measure measure;
            if (query.rule == HeadRule::Link) {
                measure = link(content, head, query);
            } else if (query.rule == HeadRule::Anaphora) {
                measure = stands_for(content, keys, head, query);
            } else if (query.rule == HeadRule::LongDistance && !query.word.empty()) {
                measure = far_from(content, keys, head, query);
            } else if (query.rule == HeadRule::LongDistance) {
                measure = far_reaching(statistics_of(record, weights, head));
            } else if (const PlaceRule* rule = place_rule(query.rule); rule != nullptr) {
                measure = at_places(statistics_of(record, weights, head), *rule);
            } else {
                measure = structured(content, statistics_of(record, weights, head));
            }
            if (measure.admitted) {
                found.push_back({weights.site, head, measure.value, measure.what});
            }
        }
    }
    if (found.empty()) {
        const char* const why = !asks_for_places(query.rule)             ? ""
                                : selection.kind == AttentionKind::Cross ? ": its keys are of another text"
                                : query.rule == HeadRule::PreviousToken
                                    ? ""
                                    : ": no token of the text repeats an earlier one";
        throw Error(fmt::format("no head of {} attention matches this search{}", name_of(selection.kind), why));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const FoundHead& a, const FoundHead& b) { return a.value > b.value; });
    return found;
}

}  // namespace headscope
