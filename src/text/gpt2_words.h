// Splits text as GPT-2 does before it merges bytes.
#pragma once

#include <string_view>
#include <vector>

namespace headscope {

// The matches of '(?:s|t|re|ve|m|ll|d)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+, which cover the whole text:
// words with the space before them. The text is valid UTF-8.
std::vector<std::string_view> gpt2_words(std::string_view text);

}  // namespace headscope
