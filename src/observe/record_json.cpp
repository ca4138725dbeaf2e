#include "observe/record_json.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "model/family.h"
#include "observe/family_labels.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr const char* kFormat = "headscope attention record";
constexpr int kVersion = 1;
constexpr std::pair<TokenKind, const char*> kTokenKinds[] = {
    {TokenKind::Piece, "piece"}, {TokenKind::Unknown, "unknown"}, {TokenKind::Begin, "begin"},
    {TokenKind::End, "end"},     {TokenKind::Pad, "pad"},         {TokenKind::Mask, "mask"}};

std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Nine digits distinguish any two floats. "-0" would be parsed as an integer and lose its sign.
std::string number(float value) {
    if (!std::isfinite(value)) {
        throw Error(fmt::format("cannot write a weight of {} as JSON: the model's parameters are damaged", value));
    }
    return value == 0.0F && std::signbit(value) ? "-0.0" : fmt::format("{:.9g}", value);
}

template <class Iterator>
std::string numbers(Iterator from, Iterator to) {
    std::string text = "[";
    for (; from != to; ++from) {
        if (text.size() > 1) {
            text += ',';
        }
        text += number(*from);
    }
    text += ']';
    return text;
}

std::string tokens_json(const std::vector<RecordedToken>& tokens) {
    std::vector<std::string> items;
    for (const RecordedToken& token : tokens) {
        for (const auto& [kind, name] : kTokenKinds) {
            if (kind == token.kind) {
                items.push_back(
                    fmt::format("{{\"text\":{},\"kind\":\"{}\"{}{}}}", quoted(token.text), name,
                                token.begins_word ? ",\"begins_word\":true" : "",
                                token.probability ? fmt::format(",\"probability\":{:.9g}", *token.probability) : ""));
            }
        }
    }
    return fmt::format("[{}]", fmt::join(items, ","));
}

// The keys of the layers and tokens.
std::string streams_json(const AttentionRecord& record) {
    const FamilyTraits& family = traits(record.family);
    if (family.continues_text) {
        return fmt::format("\"layers\":{},\n\"text\":{},\n\"next\":{}", record.decoder_layers,
                           tokens_json(record.target_in), tokens_json(record.target_out));
    }
    if (family.fills_masks) {
        return fmt::format("\"layers\":{},\n\"text\":{},\n\"fills\":{}", record.encoder_layers,
                           tokens_json(record.source), tokens_json(record.target_out));
    }
    return fmt::format(
        "\"encoder_layers\":{},\"decoder_layers\":{},\n\"source\":{},\n\"target_in\":{},\n\"target_out\":{}",
        record.encoder_layers, record.decoder_layers, tokens_json(record.source), tokens_json(record.target_in),
        tokens_json(record.target_out));
}

}  // namespace

std::string to_json(const AttentionRecord& record) {
    const FamilyTraits& traits_of_record = traits(record.family);
    const std::string family =
        traits_of_record.reads_source ? "" : fmt::format("\"architecture\":\"{}\",", traits_of_record.key);
    std::vector<std::string> sites;
    sites.reserve(record.sites.size());
    for (const SiteWeights& weights : record.sites) {
        sites.push_back(fmt::format("\n{{\"kind\":\"{}\",\"layer\":{},\"heads\":{},\"weights\":{}}}",
                                    name_of(weights.site.kind), weights.site.layer + 1, weights.heads,
                                    numbers(weights.values.begin(), weights.values.end())));
    }
    return fmt::format("{{\"format\":\"{}\",\"version\":{},{}\"derived\":{},\"edited\":{},\n{},\n\"sites\":[{}]}}\n",
                       kFormat, kVersion, family, quoted(record.derived), quoted(record.edited), streams_json(record),
                       fmt::join(sites, ","));
}

std::string to_json(const SelectedAttention& content) {
    std::vector<std::string> chances;
    for (const RowItem& item : content.queries) {
        chances.push_back(item.probability ? fmt::format("{:.9g}", *item.probability) : "null");
    }
    const bool chosen =
        std::ranges::any_of(content.queries, [](const RowItem& item) { return item.probability.has_value(); });
    const auto labels = [](const std::vector<RowItem>& row) {
        std::vector<std::string> items;
        for (const RowItem& item : row) {
            items.push_back(quoted(item.label));
        }
        return fmt::format("[{}]", fmt::join(items, ","));
    };
    std::vector<std::string> heads;
    for (const int head : content.heads) {
        std::vector<std::string> rows;
        for (std::size_t query = 0; query < content.queries.size(); ++query) {
            const auto row =
                content.weights.begin() +
                static_cast<std::ptrdiff_t>(((static_cast<std::size_t>(head) - 1) * content.queries.size() + query) *
                                            content.keys.size());
            rows.push_back(numbers(row, row + static_cast<std::ptrdiff_t>(content.keys.size())));
        }
        heads.push_back(fmt::format("\n{{\"head\":{},\"weights\":[{}]}}", head, fmt::join(rows, ",")));
    }
    return fmt::format(
        "{{\"title\":{},\n\"note\":{},\n\"edited\":{},\n\"queries\":{},\n{}\"keys\":{},\n\"chosen_queries\":[{}],"
        "\"chosen_keys\":[{}],\"pieces_"
        "joined\":{},\"renormalised\":{},\n"
        "\"heads\":[{}]}}\n",
        quoted(content.title), quoted(content.note), quoted(content.edited), labels(content.queries),
        chosen ? fmt::format("\"query_probabilities\":[{}],\n", fmt::join(chances, ",")) : "", labels(content.keys),
        fmt::join(content.chosen, ","), fmt::join(content.chosen_keys, ","), content.joined, content.renormalised,
        fmt::join(heads, ","));
}

}  // namespace headscope
