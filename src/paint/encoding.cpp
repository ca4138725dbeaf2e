#include "paint/encoding.h"

#include <fmt/format.h>
#include <zlib.h>

#include "support/check.h"

namespace headscope {

std::string number_text(double value) {
    std::string text = fmt::format("{:.3f}", value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') {
        text.pop_back();
    }
    return text == "-0" ? "0" : text;
}

std::string deflated(const std::string& bytes) {
    uLongf size = compressBound(static_cast<uLong>(bytes.size()));
    std::string packed(size, '\0');
    if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                  static_cast<uLong>(bytes.size()), Z_DEFAULT_COMPRESSION) != Z_OK) {
        throw Error(fmt::format("out of memory for {} bytes of a picture", bytes.size()));
    }
    packed.resize(size);
    return packed;
}

}  // namespace headscope
