// Text as one gzip stream.
#pragma once

#include <zlib.h>

#include <string>
#include <string_view>

#include "support/check.h"

namespace headscope {

inline std::string gzip(std::string_view text) {
    std::string packed(text.size() + text.size() / 1000 + 100, '\0');
    z_stream stream{};
    HEADSCOPE_CHECK(::deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib");
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    HEADSCOPE_CHECK(::deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib");
    packed.resize(stream.total_out);
    ::deflateEnd(&stream);
    return packed;
}

}  // namespace headscope
