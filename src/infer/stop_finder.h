// Whether a growing output contains a text at which it stops.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/growing_text.h"

namespace headscope {

// The position of the first of some texts in another, or its size.
std::size_t find_first(std::string_view text, const std::vector<std::string>& stops);

// For tokens that come one by one. The work is linear in their number, unless the prompt ends within a character.
class StopFinder {
public:
    // The tokenizer must outlive this.
    StopFinder(const Tokenizer& tokenizer, std::vector<std::int32_t> prompt, std::vector<std::string> stops);

    // Whether the text that the tokens add to that of the prompt (decode_after()) contains a stop text. They begin with
    // those of the last call, in which none was found.
    bool finds(std::span<const std::int32_t> tokens);

    // Counts tokens and bytes that were looked at, for tests.
    std::int64_t work() const { return work_; }

private:
    const Tokenizer& tokenizer_;
    const std::vector<std::int32_t> prompt_;
    const std::vector<std::string> stops_;
    std::string before_;        // the prompt's text
    GrowingText whole_;         // of prompt and tokens
    std::size_t tokens_ = 0;    // read
    std::size_t longest_ = 0;   // of the stop texts
    std::size_t searched_ = 0;  // bytes of the settled text
    std::int64_t work_ = 0;
};

}  // namespace headscope
