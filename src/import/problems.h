// Collects everything about another program's model that is not supported, so that one error lists it all.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace headscope {

class Problems {
public:
    // `model` is the folder or file that the user named.
    explicit Problems(std::string model) : model_(std::move(model)) {}
    void add(const std::string& file, const std::string& text) { lines_.push_back(file + ": " + text); }
    // Error with all problems if there are any.
    void finish() const;

private:
    std::string model_;
    std::vector<std::string> lines_;
};

// What another value than the only one that is supported leads to.
enum class OtherValue : std::uint8_t { Refused, Reported };
constexpr auto kReported = OtherValue::Reported;

// A key that no reader asks for.
struct KeyRule {
    const char* key;              // '*' at its end or beginning stands for anything
    const char* value = nullptr;  // JSON: the only value that is supported. Null: no value changes what is computed
    OtherValue otherwise = OtherValue::Refused;
    const char* families = "";  // of Hugging Face, between spaces; empty: all
};

// Reads another program's JSON configuration. Null counts as absent. A value of the wrong type or out of range is added
// to the problems and replaced by the fallback. It remembers the keys that were asked for: unknown_keys() lists others.
class ForeignConfig {
public:
    // `file` and `problems` are for messages; all outlive the reader.
    ForeignConfig(const nlohmann::json& json, std::string file, Problems& problems);

    bool has(const std::string& key) const;
    bool is_null(const std::string& key) const;  // the key is there, without a value
    std::int64_t integer(const std::string& key, std::int64_t fallback, std::int64_t least = 0,
                         std::int64_t most = std::int64_t{1} << 24) const;
    double number(const std::string& key, double fallback) const;
    // Of keys that every model has: a problem if they are missing. `least` and 0 stand for them then.
    std::int64_t required_integer(const std::string& key, std::int64_t least,
                                  std::int64_t most = std::int64_t{1} << 24) const;
    double required_number(const std::string& key) const;
    bool boolean(const std::string& key, bool fallback) const;
    std::string text(const std::string& key, const std::string& fallback) const;
    // A value of the key, such as an element of its list, as integer() reads the whole.
    std::int64_t integer_in(const nlohmann::json& value, const std::string& key, std::int64_t fallback,
                            std::int64_t least, std::int64_t most = std::int64_t{1} << 24) const;
    // The value of a key, or null.
    const nlohmann::json& at(const std::string& key) const;

    // A problem unless the key is absent or has this value.
    void require(const std::string& key, const nlohmann::json& value) const;
    // A problem unless both keys have the same number.
    std::int64_t same(const std::string& one, const std::string& other, std::int64_t fallback) const;
    void problem(const std::string& key, const std::string& text) const;
    const std::string& file() const { return file_; }
    const nlohmann::json& json() const { return json_; }

    // The keys that nothing has asked for and that no rule names, or whose value a rule reports. A problem for each
    // value that a rule refuses.
    std::vector<std::string> unknown_keys(std::span<const KeyRule> rules, const std::string& family = "") const;

private:
    const nlohmann::json& json_;
    std::string file_;
    Problems& problems_;
    mutable std::set<std::string> asked_;
};

// A remark that names these keys of `file`; nothing without any.
void remark_unknown_keys(const std::string& file, const std::vector<std::string>& keys,
                         std::vector<std::string>& remarks);

}  // namespace headscope
