// Validators of option values, for check(). CLI11 runs them before it converts the text; its own accept -1 as a count,
// nan in any range, and 010 as 8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace headscope {

// Fits an option of any integer type.
inline constexpr std::uint64_t kAnyCount = std::numeric_limits<std::int32_t>::max();

// Decimal digits only.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most = kAnyCount);
// A random seed: any 64 bits.
CLI::Validator seed_number();
CLI::Validator real_number(double least, double most);

// An option with one of these values, the first by default; `set` gets the number of the value.
CLI::Option* add_choice(CLI::App& command, const std::string& name, std::span<const char* const> values,
                        const std::function<void(std::size_t)>& set, const std::string& help);

// Rejects an empty name.
std::string not_empty(const std::string& name);

}  // namespace headscope
