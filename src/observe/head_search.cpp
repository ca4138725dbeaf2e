#include "observe/head_search.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "observe/head_statistics.h"
#include "support/check.h"

namespace headscope {

namespace {

struct Measure {
    bool admitted = false;
    double value = 0.0;
    std::string what;
};

// Whether an item names something: neither an end nor punctuation.
bool is_word(const std::vector<RecordedToken>& tokens, const RowItem& item) {
    const TokenKind kind = tokens[static_cast<std::size_t>(item.first)].kind;
    return (kind == TokenKind::Piece || kind == TokenKind::Unknown) && !is_punctuation(item.word);
}

int words_between(std::size_t query, std::size_t key) {
    return std::abs(static_cast<int>(query) - static_cast<int>(key));
}

// The mean over the places of the word, which may be several.
double mass(const FigureContent& content, int head, const std::vector<std::size_t>& queries, std::size_t key) {
    double sum = 0.0;
    for (const std::size_t query : queries) {
        sum += static_cast<double>(content.weight(head, query, key));
    }
    return sum / static_cast<double>(queries.size());
}

Measure link(const FigureContent& content, int head, const HeadQuery& query) {
    double sum = 0.0;
    for (const std::size_t key : find_word(content.keys, query.to)) {
        sum += mass(content, head, find_word(content.queries, query.word), key);
    }
    return {true, sum, fmt::format("{} \u2192 {} {:.2f}", query.word, query.to, sum)};
}

Measure far_from(const FigureContent& content, const std::vector<RecordedToken>& keys, int head,
                 const HeadQuery& query) {
    const std::vector<std::size_t> queries = find_word(content.queries, query.word);
    double sum = 0.0;
    for (std::size_t key = 0; key < content.keys.size(); ++key) {
        if (is_word(keys, content.keys[key]) && words_between(queries.front(), key) >= kFarAway) {
            sum += mass(content, head, queries, key);
        }
    }
    return {true, sum, fmt::format("{:.2f} of {}'s weight lies {} words away or more", sum, query.word, kFarAway)};
}

Measure stands_for(const FigureContent& content, const std::vector<RecordedToken>& keys, int head,
                   const HeadQuery& query) {
    const std::vector<std::size_t> queries = find_word(content.queries, query.word);
    Measure best;
    for (std::size_t key = 0; key + kNotNext <= queries.front(); ++key) {
        const double weight = mass(content, head, queries, key);
        if (is_word(keys, content.keys[key]) && (!best.admitted || weight > best.value)) {
            best = {true, weight, fmt::format("{} \u2192 {} {:.2f}", query.word, content.keys[key].label, weight)};
        }
    }
    return best;
}

Measure by_statistics(const HeadStatistics& statistics, HeadRule rule) {
    if (rule == HeadRule::LongDistance) {
        return {statistics.sharpness >= kSharp, statistics.distance,
                fmt::format("mean distance {:.1f}, sharpness {:.2f}", statistics.distance, statistics.sharpness)};
    }
    return {statistics.on_diagonal() <= kPositional && statistics.on_end <= kOnEnd, statistics.sharpness,
            fmt::format("sharpness {:.2f}, {:.2f} beside the diagonal", statistics.sharpness,
                        1.0 - statistics.on_diagonal())};
}

}  // namespace

HeadQuery parse_head_query(const std::string& text) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const std::string words = equals == std::string::npos ? "" : text.substr(equals + 1);
    const std::size_t comma = words.find(',');
    if (name == "link" && comma != std::string::npos && comma > 0 && comma + 1 < words.size()) {
        return {HeadRule::Link, words.substr(0, comma), words.substr(comma + 1)};
    }
    if (name == "long-distance" && (equals == std::string::npos || !words.empty())) {
        return {HeadRule::LongDistance, words};
    }
    if (name == "anaphora" && !words.empty()) {
        return {HeadRule::Anaphora, words};
    }
    if (name == "structure" && equals == std::string::npos) {
        return {HeadRule::Structure};
    }
    throw Error("'" + text +
                "' is no search for heads; there are link=WORD,WORD, long-distance, long-distance=WORD, anaphora=WORD "
                "and structure");
}

std::vector<FoundHead> find_heads(const AttentionRecord& record, const FigureOptions& options, const HeadQuery& query) {
    std::vector<FoundHead> found;
    for (const SiteWeights& weights : record.sites) {
        if (weights.site.kind != options.kind) {
            continue;
        }
        FigureOptions layer = options;
        layer.layer = weights.site.layer + 1;
        layer.heads = {};
        const FigureContent content = select_content(record, layer);
        const std::vector<RecordedToken>& keys = key_tokens(record, options.kind);
        for (int head = 1; head <= content.model_heads; ++head) {
            Measure measure;
            if (query.rule == HeadRule::Link) {
                measure = link(content, head, query);
            } else if (query.rule == HeadRule::Anaphora) {
                measure = stands_for(content, keys, head, query);
            } else if (query.rule == HeadRule::LongDistance && !query.word.empty()) {
                measure = far_from(content, keys, head, query);
            } else {
                measure = by_statistics(statistics_of(record, weights, head), query.rule);
            }
            if (measure.admitted) {
                found.push_back({weights.site, head, measure.value, measure.what});
            }
        }
    }
    if (found.empty()) {
        throw Error(
            fmt::format("no head of {} attention is what was looked for in this sentence", name_of(options.kind)));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const FoundHead& a, const FoundHead& b) { return a.value > b.value; });
    return found;
}

}  // namespace headscope
