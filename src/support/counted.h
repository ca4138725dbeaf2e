// Counts as people write them.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace headscope {

// "1 line", "2 lines", "0 batches": `noun` is that of one.
std::string counted(std::integral auto count, std::string_view noun) {
    const bool hisses = noun.ends_with("ch") || noun.ends_with("s");
    return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : hisses ? "es" : "s");
}

}  // namespace headscope
