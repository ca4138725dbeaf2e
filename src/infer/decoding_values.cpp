#include "infer/decoding_values.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/check.h"

namespace headscope {

namespace {

void require(bool holds, const char* wanted, const nlohmann::json& found) {
    if (!holds) {
        throw Error(fmt::format("must {}, got {}", wanted, found.dump()));
    }
}

// A piece or an id of the target's vocabulary.
std::int32_t token_of(const nlohmann::json& json, const ModelDirectory* model) {
    const std::int64_t size = model != nullptr ? model->config.target_vocabulary : INT32_MAX;
    if (json.is_string() && model != nullptr) {
        if (const auto id = model->target_tokenizer->vocabulary().find(json.get<std::string>())) {
            return *id;
        }
    }
    require(json.is_number_integer() && json >= 0 && json < size,
            model != nullptr ? "hold lists of pieces or ids of the target's vocabulary" : "hold lists of ids", json);
    return json.get<std::int32_t>();
}

TokenList tokens_of(const nlohmann::json& list, const ModelDirectory* model) {
    require(list.is_array() && !list.empty(), "hold lists of pieces or ids", list);
    TokenList tokens;
    std::transform(list.begin(), list.end(), std::back_inserter(tokens),
                   [&](const nlohmann::json& token) { return token_of(token, model); });
    return tokens;
}

const nlohmann::json& list_in(const GivenValue& given) {
    require_value(given.json.is_array(), "a list [...]", given);
    return given.json;
}

double number_in(const nlohmann::json& pair, double least, double most) {
    const bool fits = pair.is_array() && pair.size() == 2 && pair[1].is_number() && pair[1] >= least && pair[1] <= most;
    require(fits, fmt::format("hold pairs whose second value is a number from {} to {}", least, most).c_str(), pair);
    return pair[1].get<double>();
}

// "0.05", "1000000", "18446744073709551615"
std::string number_text(double number) {
    return number >= kAny64 ? std::to_string(UINT64_MAX) : fmt::format("{:.10g}", number);
}

}  // namespace

void require_value(bool is_one, const std::string& wanted, const GivenValue& given) {
    if (!is_one) {
        throw Error(fmt::format("must be {}, got {}", wanted, given.shown));
    }
}

void require_number(const DecodingKey& key, const GivenValue& given) {
    const bool whole = key.type == "integer";
    const nlohmann::json& json = given.json;
    const auto in_range = [&] {
        const auto value = json.get<double>();  // exact in every range but that of all 64 bits
        return (key.above ? value > key.least : value >= key.least) && value <= key.most;  // false for NaN
    };
    require_value((whole ? json.is_number_integer() : json.is_number()) && in_range(),
                  fmt::format("{} {} {} {} {}", whole ? "a whole number" : "a number", key.above ? "above" : "from",
                              number_text(key.least), key.above ? "and at most" : "to", number_text(key.most)),
                  given);
}

std::size_t read_choice(const DecodingKey& key, const GivenValue& given) {
    const auto found =
        std::ranges::find_if(key.names, [&](const char* name) { return json_of_name(name) == given.json; });
    require_value(found != key.names.end(), "one of " + key.values(), given);
    return static_cast<std::size_t>(found - key.names.begin());
}

nlohmann::json json_of_name(const std::string& name) {
    return name == "true" ? nlohmann::json(true) : name == "false" ? nlohmann::json(false) : nlohmann::json(name);
}

void read_list(const GivenValue& given, std::vector<std::string>& value) {
    for (const nlohmann::json& text : given.json.is_array() ? given.json : nlohmann::json::array({given.json})) {
        require_value(text.is_string() && text != "", "a text or a list of texts that are not empty", given);
        value.push_back(text.get<std::string>());
    }
}

void read_list(const GivenValue& given, TokenList& value) {
    value = list_in(given).empty() ? TokenList{} : tokens_of(given.json, given.model);
}

void read_list(const GivenValue& given, TokenLists& value) {
    for (const nlohmann::json& list : list_in(given)) {
        value.push_back(tokens_of(list, given.model));
        if (given.model != nullptr && value.back() == TokenList{given.model->config.frame.eos_id}) {
            throw Error("must not contain the end of sentence alone: no output would end");
        }
    }
}

void read_list(const GivenValue& given, std::vector<SequenceBias>& value) {
    constexpr double kMaxBias = 1e6;
    for (const nlohmann::json& pair : list_in(given)) {
        const double bias = number_in(pair, -kMaxBias, kMaxBias);
        value.push_back({tokens_of(pair[0], given.model), bias});
    }
}

void read_list(const GivenValue& given, std::optional<EndGrowth>& value) {
    const nlohmann::json& pair = list_in(given);
    if (pair.empty()) {
        return;
    }
    const double factor = number_in(pair, 0.0, kMaxPenalty);
    const bool fits = pair[0].is_number_integer() && pair[0] >= 0 && pair[0] <= kMaxMinLength;
    require(fits, fmt::format("begin with a number of tokens from 0 to {}", kMaxMinLength).c_str(), pair[0]);
    value = EndGrowth{.start = pair[0].get<std::int64_t>(), .factor = factor};
}

std::string DecodingKey::values() const {
    if (type == "integer" || type == "number") {
        return most >= kAnyNumber ? number_text(least) + " or more"
                                  : (above ? "above " : "") + number_text(least) + " to " + number_text(most);
    }
    if (type == "choice") {
        return fmt::format("{}", fmt::join(names, ", "));
    }
    return type == "boolean" ? "true, false" : std::string(type);
}

}  // namespace headscope
