// Reads a JSON file field by field; errors name the file and the key.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/check.h"

namespace headscope {

// A value of the file with its key, for messages.
class JsonField {
public:
    JsonField(const nlohmann::json& value, std::string key, const std::string& file)
        : value_(&value), key_(std::move(key)), file_(&file) {}

    // A member, null if there is none.
    JsonField operator[](const char* key) const {
        static const nlohmann::json kNull;
        const auto found = value_->is_object() ? value_->find(key) : value_->end();
        return {value_->is_object() && found != value_->end() ? *found : kNull, key_.empty() ? key : key_ + "." + key,
                *file_};
    }
    const nlohmann::json& value() const { return *value_; }
    // File and key, for messages.
    std::string place() const { return fmt::format("{}: \"{}\"", *file_, key_); }
    bool is_null() const { return value_->is_null(); }
    // `fallback` if null.
    template <class T>
    T get(T fallback) const {
        if (is_null()) {
            return fallback;
        }
        try {
            return value_->get<T>();
        } catch (const nlohmann::json::exception&) {
            reject("is not understood");
        }
    }
    std::string type() const { return (*this)["type"].get<std::string>(""); }
    std::vector<JsonField> elements() const {
        if (!is_null() && !value_->is_array()) {
            reject("must be a list");
        }
        std::vector<JsonField> fields;
        for (const nlohmann::json& element : *value_) {
            fields.emplace_back(element, fmt::format("{}[{}]", key_, fields.size()), *file_);
        }
        return fields;
    }
    [[noreturn]] void reject(const std::string& problem) const {
        std::string text = value_->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        if (text.size() > 60) {
            text = text.substr(0, 60) + "...";
        }
        throw Error(fmt::format("{} is {}, which {}", place(), text, problem));
    }
    void require(bool holds, const std::string& problem) const {
        if (!holds) {
            reject(problem);
        }
    }

private:
    const nlohmann::json* value_;
    std::string key_;
    const std::string* file_;
};

}  // namespace headscope
