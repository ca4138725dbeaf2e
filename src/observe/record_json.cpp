#include "observe/record_json.h"

#include <cmath>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "io/strict_json.h"
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
                items.push_back(fmt::format("{{\"text\":{},\"kind\":\"{}\"{}}}", quoted(token.text), name,
                                            token.begins_word ? ",\"begins_word\":true" : ""));
            }
        }
    }
    return fmt::format("[{}]", fmt::join(items, ","));
}

// Reads one document; errors name the location.
class Reader {
public:
    explicit Reader(std::string origin) : origin_(std::move(origin)) {}

    [[noreturn]] void fail(const std::string& place, const std::string& expected) const {
        throw Error(fmt::format("{}: {} must be {}", origin_, place, expected));
    }

    const nlohmann::json& member(const nlohmann::json& object, const char* key, const std::string& place) const {
        if (!object.is_object() || !object.contains(key)) {
            fail(place, fmt::format("an object with \"{}\"", key));
        }
        return object[key];
    }

    std::string text(const nlohmann::json& object, const char* key, const std::string& place) const {
        const nlohmann::json& value = member(object, key, place);
        if (!value.is_string()) {
            fail(fmt::format("\"{}\" of {}", key, place), "a string, got " + value.dump().substr(0, 40));
        }
        return value.get<std::string>();
    }

    std::int64_t count(const nlohmann::json& object, const char* key, std::int64_t least,
                       const std::string& place) const {
        const nlohmann::json& value = member(object, key, place);
        if (!value.is_number_integer() || value.get<std::int64_t>() < least ||
            value.get<std::int64_t>() > 1'000'000'000) {
            fail(fmt::format("\"{}\" of {}", key, place),
                 fmt::format("an integer of at least {}, got {}", least, value.dump().substr(0, 40)));
        }
        return value.get<std::int64_t>();
    }

    const nlohmann::json& list(const nlohmann::json& object, const char* key, const std::string& place) const {
        const nlohmann::json& value = member(object, key, place);
        if (!value.is_array()) {
            fail(fmt::format("\"{}\" of {}", key, place), "a list");
        }
        return value;
    }

    std::vector<RecordedToken> tokens(const nlohmann::json& object, const char* key) const {
        std::vector<RecordedToken> found;
        for (const nlohmann::json& item : list(object, key, "the record")) {
            const std::string place = fmt::format("token {} of \"{}\"", found.size() + 1, key);
            const std::string name = text(item, "kind", place);
            RecordedToken token{text(item, "text", place), TokenKind::Piece};
            bool known = false;
            for (const auto& [kind, kind_name] : kTokenKinds) {
                if (name == kind_name) {
                    token.kind = kind;
                    known = true;
                }
            }
            if (!known) {
                fail("\"kind\" of " + place, "piece, unknown, begin, end, pad or mask, got \"" + name + "\"");
            }
            if (const auto begins = item.find("begins_word"); begins != item.end()) {
                if (!begins->is_boolean()) {
                    fail("\"begins_word\" of " + place, "true or false");
                }
                token.begins_word = begins->get<bool>();
            }
            found.push_back(std::move(token));
        }
        return found;
    }

    SiteWeights site(const nlohmann::json& item, std::size_t index, const AttentionRecord& record) const {
        const std::string place = fmt::format("site {}", index + 1);
        SiteWeights weights;
        try {
            weights.site.kind = traits(record.family, parse_attention_kind(text(item, "kind", place))).kind;
        } catch (const Error& error) {
            throw Error(fmt::format("{}: {}: {}", origin_, place, error.what()));
        }
        weights.site.layer = static_cast<int>(count(item, "layer", 1, place)) - 1;
        weights.heads = count(item, "heads", 1, place);
        weights.queries = static_cast<std::int64_t>(query_tokens(record, weights.site.kind).size());
        weights.keys = static_cast<std::int64_t>(key_tokens(record, weights.site.kind).size());
        const nlohmann::json& values = list(item, "weights", place);
        const auto expected = static_cast<std::size_t>(weights.heads * weights.queries * weights.keys);
        if (values.size() != expected) {
            fail(fmt::format("\"weights\" of {}", place),
                 fmt::format("{} heads x {} queries x {} keys = {} numbers, got {}", weights.heads, weights.queries,
                             weights.keys, expected, values.size()));
        }
        weights.values.reserve(expected);
        for (const nlohmann::json& value : values) {
            if (!value.is_number() || !std::isfinite(value.get<float>())) {
                fail(fmt::format("weight {} of {}", weights.values.size() + 1, place),
                     "a number in the range of a float, got " + value.dump().substr(0, 40));
            }
            weights.values.push_back(value.get<float>());
        }
        return weights;
    }

private:
    std::string origin_;
};

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

void read_streams(const Reader& reader, const nlohmann::json& json, AttentionRecord& record) {
    const std::string place = "the record";
    const auto layers = [&](const char* key) { return static_cast<int>(reader.count(json, key, 0, place)); };
    const FamilyTraits& family = traits(record.family);
    if (family.continues_text) {
        record.decoder_layers = layers("layers");
        record.target_in = reader.tokens(json, "text");
        record.target_out = reader.tokens(json, "next");
        if (record.target_out.size() != record.target_in.size() &&
            record.target_out.size() + 1 != record.target_in.size()) {
            reader.fail("\"next\"", fmt::format("as long as \"text\", {} tokens, or one shorter, got {}",
                                                record.target_in.size(), record.target_out.size()));
        }
    } else if (family.fills_masks) {
        record.encoder_layers = layers("layers");
        record.source = reader.tokens(json, "text");
        record.target_out = reader.tokens(json, "fills");
    } else {
        record.encoder_layers = layers("encoder_layers");
        record.decoder_layers = layers("decoder_layers");
        record.source = reader.tokens(json, "source");
        record.target_in = reader.tokens(json, "target_in");
        record.target_out = reader.tokens(json, "target_out");
        if (record.target_in.size() != record.target_out.size()) {
            reader.fail("\"target_out\"", fmt::format("as long as \"target_in\", {} tokens, got {}",
                                                      record.target_in.size(), record.target_out.size()));
        }
    }
}

Architecture read_family(const Reader& reader, const nlohmann::json& json) {
    if (!json.contains("architecture")) {
        return {};  // records of translations do not say it
    }
    const std::string found = reader.text(json, "architecture", "the record");
    for (const FamilyTraits& family : families()) {
        if (!family.reads_source && found == family.key) {
            return family.architecture;
        }
    }
    reader.fail("\"architecture\"", "causal-lm or masked-lm, got \"" + found + "\"");
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

AttentionRecord record_from_json(const std::string& text, const std::string& origin) {
    const Reader reader(origin);
    std::istringstream stream(text);
    const nlohmann::json json = parse_json(stream, origin);
    const std::string place = "the record";
    if (reader.text(json, "format", place) != kFormat) {
        reader.fail("\"format\"", fmt::format("\"{}\"", kFormat));
    }
    if (reader.count(json, "version", 1, place) != kVersion) {
        reader.fail("\"version\"", fmt::format("{}, the only supported version", kVersion));
    }
    AttentionRecord record;
    record.derived = reader.text(json, "derived", place);
    if (json.contains("edited")) {  // absent in old records
        record.edited = reader.text(json, "edited", place);
    }
    record.family = read_family(reader, json);
    read_streams(reader, json, record);
    for (const nlohmann::json& item : reader.list(json, "sites", place)) {
        record.sites.push_back(reader.site(item, record.sites.size(), record));
    }
    return record;
}

std::string to_json(const SelectedAttention& content) {
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
        "{{\"title\":{},\n\"note\":{},\n\"edited\":{},\n\"queries\":{},\n\"keys\":{},\n\"chosen_queries\":[{}],"
        "\"chosen_keys\":[{}],\"pieces_"
        "joined\":{},\"renormalised\":{},\n"
        "\"heads\":[{}]}}\n",
        quoted(content.title), quoted(content.note), quoted(content.edited), labels(content.queries),
        labels(content.keys), fmt::join(content.chosen, ","), fmt::join(content.chosen_keys, ","), content.joined,
        content.renormalised, fmt::join(heads, ","));
}

}  // namespace headscope
