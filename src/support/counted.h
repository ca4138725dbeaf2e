// Counts with their noun.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace headscope {

// "1 line", "2 lines", "0 hypotheses". `many` is the plural if it is not `one` plus "s".
std::string counted(std::integral auto count, std::string_view one, std::string_view many = "") {
    const std::string several = many.empty() ? std::string(one) + "s" : std::string(many);
    return std::to_string(count) + " " + (count == 1 ? std::string(one) : several);
}

}  // namespace headscope
