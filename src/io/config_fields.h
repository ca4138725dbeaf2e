// A configuration as a table with one row for each key. Reading, writing, range checks and the table in the documents
// all follow from the rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "io/config_reader.h"

namespace headscope {

// "`norm.type` is `"rms"`" as errors say it: ""norm.type" is "rms"".
inline std::string without_ticks(const std::string& text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '`') {
            plain += text[i];
        } else if ((i == 0 || text[i - 1] != '"') && (i + 1 == text.size() || text[i + 1] != '"')) {
            plain += '"';
        }
    }
    return plain;
}

// What a configuration must be for a key to have a meaning. Without one the key has the value of an absent one.
template <class Config>
struct Needs {
    std::string text;  // for documents and errors: "`mixer.encoder` is `\"lstm\"`"
    std::function<bool(const Config&)> met;
};

template <class Config>
struct ConfigField {
    std::string key;                                   // with dots between the keys of sections: "norm.epsilon"
    std::string values;                                // what is accepted, for the documents: "1 to 1024"
    std::string meaning;                               // one line of Markdown
    std::function<void(ConfigReader&, Config&)> read;  // an absent key leaves the member unchanged
    std::function<nlohmann::json(const Config&)> write;
    // For a default that depends on earlier rows: its description, and what sets it when the key is absent.
    std::string default_text = {};
    std::function<void(ConfigReader&, Config&)> set_default = {};
    std::vector<Needs<Config>> needs = {};  // all of them; about earlier rows

    // The row with a default that depends on the rows before it.
    ConfigField by_default(const char* text, std::function<void(ConfigReader&, Config&)> set) && {
        default_text = text;
        set_default = std::move(set);
        return std::move(*this);
    }
    // The row with a meaning only for some configurations.
    ConfigField only_if(const Needs<Config>& one) && {
        needs.push_back(one);
        return std::move(*this);
    }

    // The first need that the configuration does not meet, or null.
    const Needs<Config>* missing(const Config& config) const {
        const auto found = std::find_if(needs.begin(), needs.end(), [&](const auto& one) { return !one.met(config); });
        return found == needs.end() ? nullptr : &*found;
    }
};

template <class Config>
using ConfigFields = std::vector<ConfigField<Config>>;

// Where a configuration keeps a value: a member, or a member of a section, at(&Config::section, &Section::member).
template <class Config, class Value>
struct MemberPlace {
    using ConfigType = Config;
    using ValueType = Value;
    std::function<Value&(Config&)> find;

    Value& in(Config& config) const { return find(config); }
    const Value& in(const Config& config) const { return find(const_cast<Config&>(config)); }
};

template <class Config, class Value>
MemberPlace<Config, Value> at(Value Config::*member) {
    return {[=](Config& config) -> Value& { return config.*member; }};
}

template <class Config, class Value>
MemberPlace<Config, Value> at(MemberPlace<Config, Value> place) {
    return place;
}

template <class Config, class Section, class... More>
auto at(Section Config::*section, More... more) {
    auto inner = at(more...);
    using Value = typename decltype(inner)::ValueType;
    return MemberPlace<Config, Value>{[=](Config& config) -> Value& { return inner.in(config.*section); }};
}

template <class Member>
using ConfigOf = typename decltype(at(std::declval<Member>()))::ConfigType;
template <class Member>
using ValueOf = typename decltype(at(std::declval<Member>()))::ValueType;

template <class Member>
ConfigField<ConfigOf<Member>> integer_field(const char* key, Member member, std::int64_t least, std::int64_t most,
                                            const char* meaning = "") {
    using Config = ConfigOf<Member>;
    const auto place = at(member);
    return {key, fmt::format("{} to {}", least, most), meaning,
            [=](ConfigReader& reader, Config& config) {
                place.in(config) = static_cast<ValueOf<Member>>(reader.integer(key, place.in(config), least, most));
            },
            [=](const Config& config) { return nlohmann::json(place.in(config)); }};
}

template <class Member>
ConfigField<ConfigOf<Member>> number_field(const char* key, Member member, double least, double most,
                                           const char* meaning = "") {
    using Config = ConfigOf<Member>;
    const auto place = at(member);
    return {key, fmt::format("{} to {}", least, most), meaning,
            [=](ConfigReader& reader, Config& config) {
                place.in(config) = static_cast<ValueOf<Member>>(reader.number(key, place.in(config), least, most));
            },
            // The shortest decimal that reads back as the same value: 1e-06, not 9.999999974752427e-07.
            [=](const Config& config) { return nlohmann::json(std::stod(fmt::format("{}", place.in(config)))); }};
}

template <class Member>
ConfigField<ConfigOf<Member>> boolean_field(const char* key, Member member, const char* meaning = "") {
    using Config = ConfigOf<Member>;
    const auto place = at(member);
    return {key, "true, false", meaning,
            [=](ConfigReader& reader, Config& config) { place.in(config) = reader.boolean(key, place.in(config)); },
            [=](const Config& config) { return nlohmann::json(place.in(config)); }};
}

template <class Member>
ConfigField<ConfigOf<Member>> choice_field(const char* key, Member member,
                                           const std::vector<std::pair<const char*, ValueOf<Member>>>& choices,
                                           const char* meaning = "") {
    using Config = ConfigOf<Member>;
    const auto place = at(member);
    std::vector<std::string> names;
    for (const auto& [name, value] : choices) {
        names.push_back(fmt::format("`\"{}\"`", name));
    }
    return {key, fmt::format("{}", fmt::join(names, ", ")), meaning,
            [=](ConfigReader& reader, Config& config) {
                place.in(config) = reader.choice_of(key, choices, place.in(config));
            },
            [=](const Config& config) {
                for (const auto& [name, value] : choices) {
                    if (value == place.in(config)) {
                        return nlohmann::json(name);
                    }
                }
                return nlohmann::json();  // check_fields() rejects a value without a name
            }};
}

inline std::int32_t id_of(const ConfigReader& reader, const char* key, const std::string& wanted,
                          const nlohmann::json& value, std::int64_t most) {
    if (!value.is_number_integer() || value < 0 || value > most) {
        reader.fail(key, fmt::format("must be of the form: {}; found {}", wanted, value.dump()));
    }
    return value.get<std::int32_t>();
}

// A list of ids. `words` name those that only later become ids, and what stands for them until then.
template <class Member>
ConfigField<ConfigOf<Member>> ids_field(const char* key, Member member, std::int64_t most,
                                        const std::vector<std::pair<const char*, std::int32_t>>& words,
                                        const char* meaning) {
    using Config = ConfigOf<Member>;
    const auto place = at(member);
    std::string values = fmt::format("list of ids, 0 to {}", most);
    for (const auto& [word, id] : words) {
        values += fmt::format(", or `\"{}\"`", word);
    }
    return {key, values, meaning,
            [=](ConfigReader& reader, Config& config) {
                if (!reader.has(key)) {
                    return;
                }
                std::vector<std::int32_t>& ids = place.in(config);
                ids.clear();
                for (const nlohmann::json& item : reader.list(key)) {
                    const auto named =
                        std::find_if(words.begin(), words.end(), [&](const auto& word) { return item == word.first; });
                    ids.push_back(named != words.end() ? named->second : id_of(reader, key, values, item, most));
                }
            },
            [=](const Config& config) {
                nlohmann::json list = nlohmann::json::array();
                for (const std::int32_t id : place.in(config)) {
                    const auto named =
                        std::find_if(words.begin(), words.end(), [&](const auto& word) { return id == word.second; });
                    list.push_back(named != words.end() ? nlohmann::json(named->first) : nlohmann::json(id));
                }
                return list;
            }};
}

// A list of numbers, or of integers.
template <class Member>
ConfigField<ConfigOf<Member>> numbers_field(const char* key, Member member, double least, double most,
                                            const char* meaning) {
    using Config = ConfigOf<Member>;
    using Number = typename ValueOf<Member>::value_type;
    const auto place = at(member);
    const std::string values =
        fmt::format("list of {}, {} to {}", std::is_integral_v<Number> ? "integers" : "numbers", least, most);
    return {key, values, meaning,
            [=](ConfigReader& reader, Config& config) {
                if (!reader.has(key)) {
                    return;
                }
                place.in(config).clear();
                for (const nlohmann::json& item : reader.list(key)) {
                    const bool fits = std::is_integral_v<Number> ? item.is_number_integer() : item.is_number();
                    if (!fits || item < least || item > most) {
                        reader.fail(key, fmt::format("must be of the form: {}; found {}", values, item.dump()));
                    }
                    place.in(config).push_back(item.get<Number>());
                }
            },
            [=](const Config& config) { return nlohmann::json(place.in(config)); }};
}

// A list of texts.
template <class Member>
ConfigField<ConfigOf<Member>> texts_field(const char* key, Member member, const char* meaning) {
    using Config = ConfigOf<Member>;
    const auto place = at(member);
    return {key, "list of texts", meaning,
            [=](ConfigReader& reader, Config& config) {
                if (!reader.has(key)) {
                    return;
                }
                place.in(config).clear();
                for (const nlohmann::json& item : reader.list(key)) {
                    if (!item.is_string()) {
                        reader.fail(key, fmt::format("must be a list of texts, found {}", item.dump()));
                    }
                    place.in(config).push_back(item.get<std::string>());
                }
            },
            [=](const Config& config) { return nlohmann::json(place.in(config)); }};
}

// An object of ids.
template <class Member>
ConfigField<ConfigOf<Member>> named_ids_field(const char* key, Member member, std::int64_t most, const char* meaning) {
    using Config = ConfigOf<Member>;
    const auto place = at(member);
    std::string values = fmt::format("object of names and ids, 0 to {}", most);
    return {key, values, meaning,
            [=](ConfigReader& reader, Config& config) {
                if (!reader.has(key)) {
                    return;
                }
                const nlohmann::json& object = reader.child(key);
                if (!object.is_object()) {
                    reader.fail(key, fmt::format("must be of the form: {}; found {}", values, object.dump()));
                }
                place.in(config).clear();
                for (const auto& [name, id] : object.items()) {
                    place.in(config)[name] = id_of(reader, key, values, id, most);
                }
            },
            [=](const Config& config) { return nlohmann::json(place.in(config)); }};
}

template <class Config>
void read_fields(const ConfigFields<Config>& fields, ConfigReader& reader, Config& config) {
    for (const ConfigField<Config>& field : fields) {
        const Needs<Config>* missing = field.missing(config);
        const bool given = reader.has(field.key);
        if (field.set_default && (!given || missing != nullptr)) {
            field.set_default(reader, config);
        }
        if (missing == nullptr) {
            field.read(reader, config);
        } else if (given && reader.child(field.key) != field.write(config)) {
            reader.fail(field.key, fmt::format("must be left out unless {}, found {}", without_ticks(missing->text),
                                               reader.child(field.key).dump()));
        }
    }
}

// The values of all rows, by key.
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
    Config copy;
    read_fields(fields, reader, copy);
}

// The table for the documents, in Markdown.
template <class Config>
std::string table_of_fields(const ConfigFields<Config>& fields) {
    std::string text = "| key | values | default | meaning |\n|---|---|---|---|\n";
    for (const ConfigField<Config>& field : fields) {
        const nlohmann::json value = field.write(Config{});
        const std::string initial =
            value.is_string() || value.is_structured() ? fmt::format("`{}`", value.dump()) : value.dump();
        std::vector<std::string> needs;
        for (const Needs<Config>& one : field.needs) {
            needs.push_back(one.text);
        }
        text += fmt::format("| `{}` | {} | {} | {}{}{} |\n", field.key, field.values,
                            field.default_text.empty() ? initial : field.default_text, field.meaning,
                            needs.empty() ? "" : "; only if ", fmt::join(needs, " and "));
    }
    return text;
}

}  // namespace headscope
