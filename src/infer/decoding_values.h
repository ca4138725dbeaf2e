// How the values of decoding options are read and written, by their type.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include "infer/decoding_keys.h"
#include "infer/search_options.h"

namespace headscope {

// Error: "must be a whole number from 1 to 30, got 31".
void require_number(const DecodingKey& key, const GivenValue& given);
void require_value(bool is_one, const std::string& wanted, const GivenValue& given);
std::size_t read_choice(const DecodingKey& key, const GivenValue& given);  // the number of the name

void read_list(const GivenValue& given, std::vector<std::string>& value);
void read_list(const GivenValue& given, TokenList& value);
void read_list(const GivenValue& given, TokenLists& value);
void read_list(const GivenValue& given, std::vector<SequenceBias>& value);
void read_list(const GivenValue& given, std::optional<EndGrowth>& value);

// `true` and `false` are no strings in JSON.
nlohmann::json json_of_name(const std::string& name);

template <class Value>
void read_value(const DecodingKey& key, const GivenValue& given, Value& value) {
    if constexpr (std::is_enum_v<Value>) {
        value = static_cast<Value>(read_choice(key, given));
    } else if constexpr (std::is_same_v<Value, bool>) {
        require_value(given.json.is_boolean(), "true or false", given);
        value = given.json.get<bool>();
    } else if constexpr (std::is_arithmetic_v<Value>) {
        require_number(key, given);
        value = given.json.get<Value>();
    } else if constexpr (std::is_same_v<Value, std::string>) {
        require_value(given.json.is_string(), "a text", given);
        value = given.json.get<std::string>();
    } else {
        read_list(given, value);
    }
}

template <class Value>
nlohmann::json write_value(const DecodingKey& key, const Value& value) {
    if constexpr (std::is_enum_v<Value>) {
        return json_of_name(key.names[static_cast<std::size_t>(value)]);
    } else if constexpr (std::is_same_v<Value, std::vector<SequenceBias>>) {
        nlohmann::json list = nlohmann::json::array();
        for (const SequenceBias& each : value) {
            list.push_back({each.tokens, each.bias});
        }
        return list;
    } else if constexpr (std::is_same_v<Value, std::optional<EndGrowth>>) {
        return value ? nlohmann::json{value->start, value->factor} : nlohmann::json::array();
    } else if constexpr (std::is_same_v<Value, std::optional<std::int64_t>>) {
        return value ? nlohmann::json(*value) : nlohmann::json();
    } else {
        return value;
    }
}

template <class Value>
constexpr const char* type_of() {
    return std::is_same_v<Value, bool>          ? "boolean"
           : std::is_integral_v<Value>          ? "integer"
           : std::is_arithmetic_v<Value>        ? "number"
           : std::is_enum_v<Value>              ? "choice"
           : std::is_same_v<Value, std::string> ? "text"
                                                : "list";
}

}  // namespace headscope
