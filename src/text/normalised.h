// What two sentences must differ in to count as different.
#pragma once

#include <string>
#include <string_view>

namespace headscope {

// Letters in lower case (see fold_case), punctuation (ASCII and U+2000..U+206F) and white space each folded to one
// space between words.
std::string normalised_text(std::string_view text);

}  // namespace headscope
