// Texts that go in and out of the C library.
#pragma once

#include <string>

#include <headscope/headscope.h>
#include <nlohmann/json.hpp>

struct hs_buffer {
    std::string bytes;
};

namespace headscope {

inline hs_text lent(const std::string& text) {
    return {text.c_str(), text.size()};
}

// Failure for a text without data. `name` is the argument's.
std::string taken(const hs_text& text, const char* name);

// Failure for a text that is no JSON, or nested too deeply. `what` it is.
nlohmann::json parsed(const std::string& text, const std::string& what);
// A value in a message: its beginning.
std::string shown(const nlohmann::json& value);

void give(hs_buffer** buffer, std::string bytes);

}  // namespace headscope
