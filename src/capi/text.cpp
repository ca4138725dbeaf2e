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

nlohmann::json parsed(const std::string& text, const std::string& what) {
    constexpr int kDeepest = 64;
    const auto check = [&](int depth, nlohmann::json::parse_event_t, const nlohmann::json&) {
        if (depth > kDeepest) {
            throw Failure(HS_INVALID, what + " is nested too deeply");
        }
        return true;
    };
    nlohmann::json json = nlohmann::json::parse(text, check, false);
    if (json.is_discarded()) {
        throw Failure(HS_INVALID, what + " is not JSON: " + shown(text));
    }
    return json;
}

std::string shown(const nlohmann::json& value) {
    constexpr std::size_t kMost = 200;
    const std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return text.size() <= kMost ? text : text.substr(0, kMost) + " ..";
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
