#include "options/option_values.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace headscope {

namespace {

// std::nullopt if the text is not exactly a number.
template <class Number>
std::optional<Number> number_in(const std::string& text) {
    Number number{};
    const char* end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, number);
    return problem == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

// CLI11 would read the number as octal.
bool begins_with_zero(const std::string& text) {
    return text.size() > 1 && text[0] == '0';
}

// "0.05", "1000000"
std::string number_text(double number) {
    return fmt::format("{:.10g}", number);
}

std::string message(const char* what, const std::string& least, const std::string& most, const std::string& found) {
    return fmt::format("must be {} from {} to {}, got {}", what, least, most, found.empty() ? "nothing" : found);
}

}  // namespace

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
    const auto check = [least, most](const std::string& text) {
        const std::optional<std::uint64_t> number = number_in<std::uint64_t>(text);
        const bool valid = number && *number >= least && *number <= most && !begins_with_zero(text);
        return valid ? "" : message("a whole number", std::to_string(least), std::to_string(most), text);
    };
    const bool open = most == kAnyCount || most == std::numeric_limits<std::uint64_t>::max();
    return {check, open ? fmt::format("{} or more", least) : fmt::format("{} to {}", least, most)};
}

CLI::Validator seed_number() {
    return whole_number(0, std::numeric_limits<std::uint64_t>::max());
}

CLI::Validator real_number(double least, double most) {
    const auto check = [least, most](const std::string& text) {
        const std::optional<double> number = number_in<double>(text);
        const bool valid = number && *number >= least && *number <= most;  // false for NaN
        return valid ? "" : message("a number", number_text(least), number_text(most), text);
    };
    return {check, number_text(least) + " to " + number_text(most)};
}

CLI::Option* add_choice(CLI::App& command, const std::string& name, std::span<const char* const> values,
                        const std::function<void(std::size_t)>& set, const std::string& help) {
    const std::vector<std::string> known(values.begin(), values.end());
    const auto choose = [known, set](const std::string& value) {
        set(static_cast<std::size_t>(std::find(known.begin(), known.end(), value) - known.begin()));
    };
    return command.add_option_function<std::string>(name, choose, help)
        ->check(CLI::IsMember(known))
        ->default_str(known.front());
}

std::string not_empty(const std::string& name) {
    return name.empty() ? "must not be empty" : "";
}

}  // namespace headscope
