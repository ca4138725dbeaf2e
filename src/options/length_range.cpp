#include "options/length_range.h"

#include <charconv>
#include <system_error>

namespace headscope {
namespace {

constexpr std::int64_t kMost = 1'000'000;

// 0 if it is none.
std::int64_t length_in(const std::string& text) {
    std::int64_t length = 0;
    const char* end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, length);
    const bool is_valid = problem == std::errc() && stop == end && text[0] != '0' && length > 0 && length <= kMost;
    return is_valid ? length : 0;
}

}  // namespace

std::vector<std::int64_t> lengths_in(const std::string& text) {
    const std::size_t dots = text.find("..");
    const std::int64_t first = length_in(text.substr(0, dots));
    const std::int64_t last = dots == std::string::npos ? first : length_in(text.substr(dots + 2));
    std::vector<std::int64_t> lengths;
    for (std::int64_t length = first; length > 0 && length <= last; length *= 2) {
        lengths.push_back(length);
    }
    return lengths;
}

std::string length_or_range(const std::string& text) {
    return lengths_in(text).empty()
               ? "must be a whole number from 1 to " + std::to_string(kMost) +
                     ", or a range that doubles, such as 128..8192, got " + (text.empty() ? "nothing" : text)
               : "";
}

}  // namespace headscope
