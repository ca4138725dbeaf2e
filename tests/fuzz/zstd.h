// Text as one zstd frame.
#pragma once

#include <zstd.h>

#include <string>
#include <string_view>

#include "support/check.h"

namespace headscope {

inline std::string zstd(std::string_view text) {
    std::string packed(::ZSTD_compressBound(text.size()), '\0');
    const std::size_t size = ::ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3);
    HEADSCOPE_CHECK(::ZSTD_isError(size) == 0, "zstd");
    packed.resize(size);
    return packed;
}

}  // namespace headscope
