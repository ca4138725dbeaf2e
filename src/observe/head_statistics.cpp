#include "observe/head_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "model/family.h"
#include "support/parallel.h"

namespace headscope {

namespace {

// Of each piece of a text, the last place before it with the same piece; -1 if there is none.
std::vector<std::int64_t> earlier_places(const std::vector<RecordedToken>& tokens) {
    std::unordered_map<std::string_view, std::int64_t> last;
    std::vector<std::int64_t> earlier(tokens.size(), -1);
    for (std::size_t at = 0; at < tokens.size(); ++at) {
        if (tokens[at].kind == TokenKind::Piece) {
            const auto [found, is_new] = last.try_emplace(tokens[at].text, static_cast<std::int64_t>(at));
            earlier[at] = is_new ? -1 : std::exchange(found->second, static_cast<std::int64_t>(at));
        }
    }
    return earlier;
}

void add_repeats(HeadStatistics& found, const std::vector<RecordedToken>& tokens, const SiteWeights& weights) {
    const std::vector<std::int64_t> earlier = earlier_places(tokens);
    for (std::int64_t query = 0; query < weights.queries; ++query) {
        std::int64_t place = earlier[static_cast<std::size_t>(query)];
        if (place < 0 || place + 1 == query) {
            continue;
        }
        found.repeated += 1;
        for (; place >= 0; place = earlier[static_cast<std::size_t>(place)]) {
            found.duplicate += static_cast<double>(weights.at(found.head - 1, query, place));
            found.induction += static_cast<double>(weights.at(found.head - 1, query, place + 1));
        }
    }
    if (found.repeated > 0) {
        found.duplicate /= static_cast<double>(found.repeated);
        found.induction /= static_cast<double>(found.repeated);
    }
}

}  // namespace

HeadStatistics statistics_of(const AttentionRecord& record, const SiteWeights& weights, int head) {
    const std::vector<RecordedToken>& queries = query_tokens(record, weights.site.kind);
    const std::vector<RecordedToken>& keys = key_tokens(record, weights.site.kind);
    const bool language = !traits(record.family).reads_source;
    HeadStatistics found{.site = weights.site, .head = head};
    double counted = 0.0;
    for (std::int64_t query = 0; query < weights.queries; ++query) {
        if (queries[static_cast<std::size_t>(query)].kind == TokenKind::Pad) {
            continue;
        }
        counted += 1.0;
        double largest = 0.0;
        for (std::int64_t key = 0; key < weights.keys; ++key) {
            const TokenKind kind = keys[static_cast<std::size_t>(key)].kind;
            const double weight = static_cast<double>(weights.at(head - 1, query, key));
            if (kind == TokenKind::Pad || weight <= 0.0) {
                continue;
            }
            const std::int64_t offset = key - query;
            found.entropy -= weight * std::log2(weight);
            found.distance += weight * static_cast<double>(std::abs(offset));
            found.offset += weight * static_cast<double>(offset);
            if (offset >= -1 && offset <= 1) {
                found.diagonal[static_cast<std::size_t>(offset + 1)] += weight;
            }
            found.on_end += kind == TokenKind::End || (language && kind == TokenKind::Begin) ? weight : 0.0;
            largest = std::max(largest, weight);
            if (weight > found.strongest) {
                found.strongest = weight;
                found.strongest_query = query;
                found.strongest_key = key;
            }
        }
        found.sharpness += largest;
    }
    found.off = counted > 0.0 && found.sharpness == 0.0;
    if (counted > 0.0) {
        for (double* sum : {&found.entropy, &found.distance, &found.offset, &found.sharpness, &found.diagonal[0],
                            &found.diagonal[1], &found.diagonal[2], &found.on_end}) {
            *sum /= counted;
        }
    }
    if (weights.site.kind != AttentionKind::Cross) {
        add_repeats(found, queries, weights);
    }
    return found;
}

std::vector<HeadStatistics> head_statistics(const AttentionRecord& record) {
    std::vector<std::pair<const SiteWeights*, int>> heads;
    for (const SiteWeights& weights : record.sites) {
        for (int head = 1; head <= static_cast<int>(weights.heads); ++head) {
            heads.emplace_back(&weights, head);
        }
    }
    std::vector<HeadStatistics> found(heads.size());
    constexpr std::size_t kLeastHeads = 16;  // for a thread
    in_parallel(heads.size(), kLeastHeads, [&](std::size_t first, std::size_t end) {
        for (; first < end; ++first) {
            found[first] = statistics_of(record, *heads[first].first, heads[first].second);
        }
    });
    return found;
}

}  // namespace headscope
