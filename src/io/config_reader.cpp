#include "io/config_reader.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "support/check.h"
#include "support/edit_distance.h"

namespace headscope {

namespace {

// "; did you mean "steps"?" if a known key begins with `key` or is a near misspelling of it, also without its section.
std::string guess(const std::string& key, const std::set<std::string>& known) {
    const auto begun =
        std::find_if(known.begin(), known.end(), [&](const std::string& name) { return name.starts_with(key); });
    std::string meant = begun != known.end() ? *begun : nearest(key, {known.begin(), known.end()});
    if (meant.empty()) {
        std::vector<std::string> last;  // without their sections
        for (const std::string& name : known) {
            last.push_back(name.substr(name.rfind('.') + 1));
        }
        const auto found = std::find(last.begin(), last.end(), nearest(key, last));
        meant = found == last.end() ? "" : *std::next(known.begin(), found - last.begin());
    }
    return meant.empty() ? "." : fmt::format("; did you mean \"{}\"?", meant);
}

}  // namespace

ConfigReader::ConfigReader(const nlohmann::json& json, std::string file, std::string prefix)
    : json_(json), file_(std::move(file)), prefix_(std::move(prefix)) {
    if (!json_.is_object()) {
        throw Error(fmt::format("{}: {} must be an object {{...}}, found {}", file_,
                                prefix_.empty() ? "the file" : "\"" + prefix_ + "\"", json_.type_name()));
    }
}

bool ConfigReader::has(const std::string& key) {
    return find(key) != nullptr;
}

const nlohmann::json* ConfigReader::find(const std::string& key) {
    asked_.insert(key);
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
}

const nlohmann::json& ConfigReader::child(const std::string& key) {
    const nlohmann::json* value = find(key);
    if (value == nullptr) {
        fail(key, "is missing" + found_instead_of(key));
    }
    return *value;
}

// Hint for a missing key: a likely misspelling, or the keys that are present.
std::string ConfigReader::found_instead_of(const std::string& key) const {
    std::vector<std::string> found;
    std::vector<std::string> unused;
    for (const auto& [name, value] : json_.items()) {
        found.push_back(name);
        if (!asked_.contains(name)) {
            unused.push_back(name);
        }
    }
    if (const std::string meant = nearest(key, unused); !meant.empty()) {
        return fmt::format("; is \"{}\" a misspelling of it?", meant);
    }
    return found.empty() ? "" : fmt::format("; found here: {}", fmt::join(found, ", "));
}

const nlohmann::json& ConfigReader::list(const std::string& key) {
    static const nlohmann::json none = nlohmann::json::array();
    const nlohmann::json* value = find(key);
    if (value != nullptr && !value->is_array()) {
        fail(key, "must be a list [...], found " + value->dump());
    }
    return value == nullptr ? none : *value;
}

std::int64_t ConfigReader::integer(const std::string& key, std::int64_t fallback, std::int64_t least,
                                   std::int64_t most) {
    const nlohmann::json* value = find(key);
    if (value == nullptr) {
        return fallback;
    }
    const bool fits =
        value->is_number_integer() && (!value->is_number_unsigned() || value->get<std::uint64_t>() <= INT64_MAX);
    if (!fits || value->get<std::int64_t>() < least || value->get<std::int64_t>() > most) {
        fail(key, fmt::format("must be a whole number from {} to {}, found {}", least, most, value->dump()));
    }
    return value->get<std::int64_t>();
}

double ConfigReader::number(const std::string& key, double fallback, double least, double most) {
    const nlohmann::json* value = find(key);
    if (value == nullptr) {
        return fallback;
    }
    if (!value->is_number() || !(value->get<double>() >= least && value->get<double>() <= most)) {
        fail(key, fmt::format("must be a number from {} to {}, found {}", least, most, value->dump()));
    }
    return value->get<double>();
}

bool ConfigReader::boolean(const std::string& key, bool fallback) {
    const nlohmann::json* value = find(key);
    if (value == nullptr) {
        return fallback;
    }
    if (!value->is_boolean()) {
        fail(key, "must be true or false, found " + value->dump());
    }
    return value->get<bool>();
}

std::string ConfigReader::text(const std::string& key, const std::string& fallback) {
    const nlohmann::json* value = find(key);
    if (value == nullptr) {
        return fallback;
    }
    if (!value->is_string()) {
        fail(key, "must be a string \"...\", found " + value->dump());
    }
    return value->get<std::string>();
}

int ConfigReader::choice(const std::string& key, int fallback, const std::vector<std::string>& allowed) {
    const nlohmann::json* value = find(key);
    if (value == nullptr) {
        return fallback;
    }
    for (std::size_t i = 0; i < allowed.size(); ++i) {
        if (*value == allowed[i]) {
            return static_cast<int>(i);
        }
    }
    fail(key, fmt::format("must be one of \"{}\", found {}", fmt::join(allowed, "\", \""), value->dump()));
}

std::vector<std::string> ConfigReader::strings(const std::string& key) {
    const nlohmann::json* value = find(key);
    if (value == nullptr) {
        return {};
    }
    if (value->is_string()) {
        return {value->get<std::string>()};
    }
    std::vector<std::string> result;
    if (value->is_array()) {
        for (const nlohmann::json& item : *value) {
            if (!item.is_string()) {
                fail(key, "must hold strings only, found " + item.dump());
            }
            result.push_back(item.get<std::string>());
        }
    }
    if (result.empty()) {
        fail(key, "must be a file name or a list of file names, found " + value->dump());
    }
    return result;
}

void ConfigReader::finish() const {
    for (const auto& [key, value] : json_.items()) {
        if (!asked_.contains(key)) {
            const std::string section = key + ".";
            if (std::any_of(asked_.begin(), asked_.end(),
                            [&](const auto& name) { return name.starts_with(section); })) {
                fail(key, "must be an object {...}, found " + value.dump());
            }
            fail(key, fmt::format("is unknown{} Known here: {}", guess(key, asked_), fmt::join(asked_, ", ")));
        }
    }
}

void ConfigReader::fail(const std::string& key, const std::string& problem) const {
    throw Error(fmt::format("{}: \"{}{}\" {}", file_, prefix_.empty() ? "" : prefix_ + ".", key, problem));
}

}  // namespace headscope
