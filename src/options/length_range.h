// Lengths as an option's value: "25", or "128..8192" for a range that doubles.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headscope {

// "128..1000" is 128, 256 and 512. Empty for anything else than a number or a range.
std::vector<std::int64_t> lengths_in(const std::string& text);

// A validator for check().
std::string length_or_range(const std::string& text);

}  // namespace headscope
