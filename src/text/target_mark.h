// The token of a target language that may stand before a source, in texts too: `>>deu<<` (OPUS-MT).
#pragma once

#include <string>
#include <string_view>

namespace headscope {

inline bool is_target_mark(std::string_view piece) {
    return piece.size() > 4 && piece.starts_with(">>") && piece.ends_with("<<");
}

inline std::string target_mark(std::string_view language) {
    return ">>" + std::string(language) + "<<";
}

}  // namespace headscope
