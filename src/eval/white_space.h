// White space as defined by sacreBLEU: Unicode's, and the ASCII separators 1C to 1F.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headscope {

// Splits at white space.
std::vector<std::string> split_words(std::string_view text);

std::string_view without_end_space(std::string_view text);

}  // namespace headscope
