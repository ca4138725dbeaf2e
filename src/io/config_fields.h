// A configuration as a table with one row for each key. Reading, writing, range checks and the table in the documents
// all follow from the rows.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "io/config_reader.h"

namespace headscope {

template <class Config>
struct ConfigField {
    std::string key;
    std::string values;                                // what is accepted, for the documents: "1 to 1024"
    std::string meaning;                               // one line of Markdown
    std::function<void(ConfigReader&, Config&)> read;  // an absent key leaves the member unchanged
    std::function<nlohmann::json(const Config&)> write;
    // For a default that depends on earlier rows: its description, and what sets it when the key is absent.
    std::string default_text = {};
    std::function<void(ConfigReader&, Config&)> set_default = {};
};

template <class Config>
using ConfigFields = std::vector<ConfigField<Config>>;

template <class Config, class Integer>
ConfigField<Config> integer_field(const char* key, Integer Config::*member, std::int64_t least, std::int64_t most,
                                  const char* meaning = "") {
    return {key, fmt::format("{} to {}", least, most), meaning,
            [=](ConfigReader& reader, Config& config) {
                config.*member = static_cast<Integer>(reader.integer(key, config.*member, least, most));
            },
            [=](const Config& config) { return nlohmann::json(config.*member); }};
}

template <class Config, class Real>
ConfigField<Config> number_field(const char* key, Real Config::*member, double least, double most,
                                 const char* meaning = "") {
    return {key, fmt::format("{} to {}", least, most), meaning,
            [=](ConfigReader& reader, Config& config) {
                config.*member = static_cast<Real>(reader.number(key, config.*member, least, most));
            },
            // The shortest decimal that reads back as the same value: 1e-06, not 9.999999974752427e-07.
            [=](const Config& config) { return nlohmann::json(std::stod(fmt::format("{}", config.*member))); }};
}

template <class Config>
ConfigField<Config> boolean_field(const char* key, bool Config::*member, const char* meaning = "") {
    return {key, "true, false", meaning,
            [=](ConfigReader& reader, Config& config) { config.*member = reader.boolean(key, config.*member); },
            [=](const Config& config) { return nlohmann::json(config.*member); }};
}

template <class Config, class Enum>
ConfigField<Config> choice_field(const char* key, Enum Config::*member,
                                 const std::vector<std::pair<const char*, std::type_identity_t<Enum>>>& choices,
                                 const char* meaning = "") {
    std::vector<std::string> names;
    for (const auto& [name, value] : choices) {
        names.push_back(fmt::format("`\"{}\"`", name));
    }
    return {
        key, fmt::format("{}", fmt::join(names, ", ")), meaning,
        [=](ConfigReader& reader, Config& config) { config.*member = reader.choice_of(key, choices, config.*member); },
        [=](const Config& config) {
            for (const auto& [name, value] : choices) {
                if (value == config.*member) {
                    return nlohmann::json(name);
                }
            }
            return nlohmann::json();  // check_fields() rejects a value without a name
        }};
}

// A row whose default depends on the rows before it.
template <class Config>
ConfigField<Config> derived_field(ConfigField<Config> field, const char* default_text,
                                  std::type_identity_t<std::function<void(ConfigReader&, Config&)>> set_default) {
    field.default_text = default_text;
    field.set_default = std::move(set_default);
    return field;
}

template <class Config>
void read_fields(const ConfigFields<Config>& fields, ConfigReader& reader, Config& config) {
    for (const ConfigField<Config>& field : fields) {
        if (field.set_default && !reader.has(field.key)) {
            field.set_default(reader, config);
        }
        field.read(reader, config);
    }
}

template <class Config>
nlohmann::json write_fields(const ConfigFields<Config>& fields, const Config& config) {
    nlohmann::json json = nlohmann::json::object();
    for (const ConfigField<Config>& field : fields) {
        json[field.key] = field.write(config);
    }
    return json;
}

// Rejects members that read_fields() would reject: an Error that names `origin` and the key.
template <class Config>
void check_fields(const ConfigFields<Config>& fields, const Config& config, const std::string& origin) {
    const nlohmann::json json = write_fields(fields, config);
    ConfigReader reader(json, origin, "");
    Config copy = config;
    read_fields(fields, reader, copy);
}

// The table for the documents, in Markdown.
template <class Config>
std::string table_of_fields(const ConfigFields<Config>& fields) {
    std::string text = "| key | values | default | meaning |\n|---|---|---|---|\n";
    for (const ConfigField<Config>& field : fields) {
        const nlohmann::json value = field.write(Config{});
        const std::string initial = value.is_string() ? fmt::format("`{}`", value.dump()) : value.dump();
        text += fmt::format("| `{}` | {} | {} | {} |\n", field.key, field.values,
                            field.default_text.empty() ? initial : field.default_text, field.meaning);
    }
    return text;
}

}  // namespace headscope
