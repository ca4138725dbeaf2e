// What the value of an option has to be, for its check(). CLI11 asks these before it converts, and by itself would take
// -1 for a count, nan for a number of any range, and 010 for 8.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace CLI {
class Validator;
}

namespace headscope {

// As much as an option of any type holds.
inline constexpr std::uint64_t kAnyCount = std::numeric_limits<std::int32_t>::max();

// In decimal digits alone.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most = kAnyCount);
// What draws by chance begin with: any 64 bits.
CLI::Validator seed_number();
// Finite.
CLI::Validator real_number(double least, double most);

// Of a name: what is wrong with an empty one, or nothing.
std::string something(const std::string& word);

}  // namespace headscope
