// Reads one object of a configuration file key by key. Every error names the file and the key.
#pragma once

#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace headscope {

class ConfigReader {
public:
    // `prefix` is the object's own key, empty for the whole file. Error if `json` is not an object.
    ConfigReader(const nlohmann::json& json, std::string file, std::string prefix);

    bool has(const std::string& key);
    const nlohmann::json& child(const std::string& key);  // Error when absent
    // The elements of an array; empty if the key is absent.
    const nlohmann::json& list(const std::string& key);

    // The value of a key, or `fallback` if it is absent. Error for another type or a value outside [least, most].
    std::int64_t integer(const std::string& key, std::int64_t fallback, std::int64_t least, std::int64_t most);
    double number(const std::string& key, double fallback, double least, double most);
    bool boolean(const std::string& key, bool fallback);
    std::string text(const std::string& key, const std::string& fallback = {});
    // One of `allowed`; returns its index.
    int choice(const std::string& key, int fallback, const std::vector<std::string>& allowed);
    // One of the names of a table; returns its value.
    template <class Value, class Table>
    Value choice_of(const std::string& key, const Table& table, Value fallback) {
        std::vector<std::string> names;
        int at = 0;
        for (const auto& [name, value] : table) {
            at = value == fallback ? static_cast<int>(names.size()) : at;
            names.emplace_back(name);
        }
        return std::next(table.begin(), choice(key, at, names))->second;
    }
    // One string or an array of strings; empty when absent.
    std::vector<std::string> strings(const std::string& key);

    // Error for a key that was never read.
    void finish() const;
    [[noreturn]] void fail(const std::string& key, const std::string& problem) const;

private:
    const nlohmann::json* find(const std::string& key);
    std::string found_instead_of(const std::string& key) const;
    const nlohmann::json& json_;
    std::string file_;
    std::string prefix_;
    std::set<std::string> asked_;
};

}  // namespace headscope
