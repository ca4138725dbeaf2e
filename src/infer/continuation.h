// The text that tokens add to that of a prompt.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "text/growing_text.h"

namespace headscope {

// Decoded alone, tokens would lose the blank at their beginning. Sentinels are shown.
std::string decode_after(const Tokenizer& tokenizer, const std::vector<std::int32_t>& prompt,
                         const std::vector<std::int32_t>& tokens);

// The same for tokens that come one by one. The work is linear in their number.
class GrowingContinuation {
public:
    // The tokenizer must outlive this.
    GrowingContinuation(const Tokenizer& tokenizer, std::vector<std::int32_t> prompt);

    // The text with which decode_after() begins, whatever follows these tokens: whole characters. If the tokens do not
    // begin with those of the last call, it begins anew.
    const std::string& settled(std::span<const std::int32_t> tokens);

private:
    void begin();
    void take_settled();

    const Tokenizer& tokenizer_;
    std::vector<std::int32_t> prompt_, tokens_;
    std::string before_;                // the prompt's text
    std::optional<GrowingText> whole_;  // of prompt and tokens
    std::string text_;
};

}  // namespace headscope
