#include "capi/text.h"

#include <utility>

#include "capi/failures.h"

namespace headscope {

std::string taken(const hs_text& text, const char* name) {
    if (text.data == nullptr && text.size != 0) {
        throw Failure(HS_INVALID, std::string(name) + " has no data, but a size");
    }
    return text.data == nullptr                   ? std::string()
           : text.size == static_cast<size_t>(-1) ? std::string(text.data)
                                                  : std::string(text.data, text.size);
}

void give(hs_buffer** buffer, std::string bytes) {
    given(buffer, "the place for the buffer") = new hs_buffer{std::move(bytes)};
}

}  // namespace headscope

hs_text hs_buffer_bytes(const hs_buffer* buffer) {
    return buffer == nullptr ? hs_text{"", 0} : headscope::lent(buffer->bytes);
}

void hs_buffer_free(hs_buffer* buffer) {
    delete buffer;
}
