// Named values that a program hands to the library, which reads no environment itself.
#pragma once

#include <map>
#include <string>
#include <utility>

namespace headscope {

// The names are those of environment variables, so that an error can quote what the user wrote.
class Settings {
public:
    Settings() = default;
    Settings(std::map<std::string, std::string> values) : values_(std::move(values)) {}

    void set(const std::string& name, const std::string& value) { values_[name] = value; }
    const std::map<std::string, std::string>& all() const { return values_; }
    bool has(const std::string& name) const { return values_.contains(name); }
    // Empty if it is not set.
    std::string get(const std::string& name) const;
    // The value of a switch; `fallback` if it is empty or not set. Error for any value but 1 and 0.
    bool on(const std::string& name, bool fallback = false) const;

private:
    std::map<std::string, std::string> values_;
};

}  // namespace headscope
