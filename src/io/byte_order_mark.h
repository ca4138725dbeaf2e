// Removal of the byte order mark at the beginning of a text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace headscope {

// What readers do with a mark at the beginning of a text: remove and report it, or keep it as a character of the text.
enum class ByteOrderMark : std::uint8_t { Removed, Kept };

constexpr std::string_view kByteOrderMark("\xef\xbb\xbf", 3);

// Sets a callback that is called once per name when a mark was removed.
void on_byte_order_mark(std::function<void(const std::string& name)> report);

// `name` identifies the text in messages.
std::string_view without_byte_order_mark(std::string_view text, const std::string& name);

}  // namespace headscope
