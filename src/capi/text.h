// Texts that go in and out of the C library.
#pragma once

#include <string>

#include <headscope/headscope.h>

struct hs_buffer {
    std::string bytes;
};

namespace headscope {

inline hs_text lent(const std::string& text) {
    return {text.c_str(), text.size()};
}

// Failure for a text without data. `name` is the argument's.
std::string taken(const hs_text& text, const char* name);

void give(hs_buffer** buffer, std::string bytes);

}  // namespace headscope
