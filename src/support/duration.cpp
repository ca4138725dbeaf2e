#include "support/duration.h"

#include <array>
#include <charconv>
#include <system_error>

namespace headscope {

namespace {

std::string fixed(double number, int digits) {
    std::array<char, 64> text{};
    const auto [end, problem] =
        std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed, digits);
    return problem == std::errc() ? std::string(text.data(), end) : "?";
}

}  // namespace

std::string duration_text(double minutes) {
    constexpr double kHour = 60.0;
    constexpr double kDay = 24.0 * kHour;
    if (minutes >= 3.0 * kDay) {
        return fixed(minutes / kDay, 0) + " days";
    }
    if (minutes >= 1.5 * kHour) {
        return fixed(minutes / kHour, 1) + " h";
    }
    return minutes >= 1.5 ? fixed(minutes, 0) + " min" : fixed(minutes * 60.0, 0) + " s";
}

}  // namespace headscope
