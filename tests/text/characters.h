// All Unicode code points, and their UTF-8 encoding.
#pragma once

#include <utf8proc.h>

#include <array>
#include <string>

namespace headscope {

inline constexpr utf8proc_int32_t kCodePoints = 0x110000;

inline std::string utf8(utf8proc_int32_t c) {
    std::array<utf8proc_uint8_t, 4> bytes{};
    const utf8proc_ssize_t size = utf8proc_encode_char(c, bytes.data());
    return {bytes.begin(), bytes.begin() + size};
}

}  // namespace headscope
