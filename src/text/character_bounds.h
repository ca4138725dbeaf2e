// Where the characters of a text begin and end.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace headscope {

// The beginnings of the characters of UTF-8 text, and the end of the text.
inline std::vector<std::size_t> character_bounds(std::string_view text) {
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U) {
            at.push_back(i);
        }
    }
    at.push_back(text.size());
    return at;
}

}  // namespace headscope
