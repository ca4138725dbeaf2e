#include "import/problems.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "support/check.h"

namespace headscope {

void Problems::finish() const {
    if (lines_.empty()) {
        return;
    }
    if (lines_.size() == 1) {
        throw Error(fmt::format("{}: {}", model_, lines_.front()));
    }
    std::string text = fmt::format("{}: {} problems:", model_, lines_.size());
    for (const std::string& line : lines_) {
        text += "\n  " + line;
    }
    throw Error(text);
}

ForeignConfig::ForeignConfig(const nlohmann::json& json, std::string file, Problems& problems)
    : json_(json), file_(std::move(file)), problems_(problems) {
    if (!json.is_object()) {
        throw Error(fmt::format("{}: expected a JSON object, found {}", file_, json.type_name()));
    }
}

const nlohmann::json& ForeignConfig::at(const std::string& key) const {
    static const nlohmann::json none;
    asked_.insert(key);
    const auto found = json_.find(key);
    return found == json_.end() ? none : *found;
}

bool ForeignConfig::has(const std::string& key) const {
    return !at(key).is_null();
}

bool ForeignConfig::is_null(const std::string& key) const {
    return json_.contains(key) && at(key).is_null();
}

void ForeignConfig::problem(const std::string& key, const std::string& text) const {
    problems_.add(file_, fmt::format("\"{}\" {}", key, text));
}

std::int64_t ForeignConfig::integer(const std::string& key, std::int64_t fallback, std::int64_t least,
                                    std::int64_t most) const {
    const nlohmann::json& value = at(key);
    return value.is_null() ? fallback : integer_in(value, key, fallback, least, most);
}

std::int64_t ForeignConfig::integer_in(const nlohmann::json& value, const std::string& key, std::int64_t fallback,
                                       std::int64_t least, std::int64_t most) const {
    // Beyond 64 bits JSON integers are read as unsigned or as floating-point numbers.
    const bool fits =
        value.is_number_integer() &&
        !(value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX));
    if (!fits || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most) {
        problem(key, fmt::format("must be an integer from {} to {}, found {}", least, most, value.dump()));
        return fallback;
    }
    return value.get<std::int64_t>();
}

double ForeignConfig::number(const std::string& key, double fallback) const {
    const nlohmann::json& value = at(key);
    if (!value.is_null() && !value.is_number()) {
        problem(key, "must be a number, found " + value.dump());
    }
    return value.is_number() ? value.get<double>() : fallback;
}

std::int64_t ForeignConfig::required_integer(const std::string& key, std::int64_t least, std::int64_t most) const {
    if (!has(key)) {
        problem(key, "is missing");
    }
    return integer(key, least, least, most);
}

double ForeignConfig::required_number(const std::string& key) const {
    if (!has(key)) {
        problem(key, "is missing");
    }
    return number(key, 0.0);
}

bool ForeignConfig::boolean(const std::string& key, bool fallback) const {
    const nlohmann::json& value = at(key);
    if (value == 0 || value == 1) {  // of a binary file
        return value == 1;
    }
    if (!value.is_null() && !value.is_boolean()) {
        problem(key, "must be true or false, found " + value.dump());
    }
    return value.is_boolean() ? value.get<bool>() : fallback;
}

std::string ForeignConfig::text(const std::string& key, const std::string& fallback) const {
    const nlohmann::json& value = at(key);
    if (!value.is_null() && !value.is_string()) {
        problem(key, "must be a string, found " + value.dump());
    }
    return value.is_string() ? value.get<std::string>() : fallback;
}

void ForeignConfig::require(const std::string& key, const nlohmann::json& value) const {
    if (has(key) && at(key) != value) {
        problem(key, fmt::format("is {}: only {} is supported", at(key).dump(), value.dump()));
    }
}

std::int64_t ForeignConfig::same(const std::string& one, const std::string& other, std::int64_t fallback) const {
    const std::int64_t first = integer(one, fallback, 1);
    if (const std::int64_t second = integer(other, fallback, 1); first != second) {
        problem(one, fmt::format("is {}, but \"{}\" is {}: they must be equal", first, other, second));
    }
    return first;
}

namespace {

bool matches(const KeyRule& rule, std::string_view key, const std::string& family) {
    const std::string_view families = rule.families;
    if (!families.empty() && (" " + std::string(families) + " ").find(" " + family + " ") == std::string::npos) {
        return false;
    }
    const std::string_view name = rule.key;
    return name.ends_with('*')     ? key.starts_with(name.substr(0, name.size() - 1))
           : name.starts_with('*') ? key.ends_with(name.substr(1))
                                   : key == name;
}

}  // namespace

std::vector<std::string> ForeignConfig::unknown_keys(std::span<const KeyRule> rules, const std::string& family) const {
    std::vector<std::string> unknown;
    for (const auto& [key, value] : json_.items()) {
        if (value.is_null() || asked_.contains(key)) {
            continue;
        }
        const auto rule = std::ranges::find_if(rules, [&](const KeyRule& one) { return matches(one, key, family); });
        const bool known =
            rule != rules.end() && (rule->value == nullptr || value == nlohmann::json::parse(rule->value));
        if (!known && (rule == rules.end() || rule->otherwise == OtherValue::Reported)) {
            unknown.push_back(key);
        } else if (!known) {
            require(key, nlohmann::json::parse(rule->value));
        }
    }
    return unknown;
}

void remark_unknown_keys(const std::string& file, const std::vector<std::string>& keys,
                         std::vector<std::string>& remarks) {
    if (!keys.empty()) {
        remarks.push_back(fmt::format("{} has keys that Headscope does not know and does not obey: \"{}\"", file,
                                      fmt::join(keys, "\", \"")));
    }
}

}  // namespace headscope
