// The byte order mark at the beginning of a text, which is left out.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace headscope {

constexpr std::string_view kByteOrderMark("\xef\xbb\xbf", 3);

// For programs to say so: called once for each name of a text that a mark was left out of.
void on_byte_order_mark(std::function<void(const std::string& name)> told);

// `name` stands for the text in messages.
std::string_view without_byte_order_mark(std::string_view text, const std::string& name);

}  // namespace headscope
