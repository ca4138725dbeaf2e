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
    // begin with those of the last call, it begins anew. `same`: how many of them surely do.
    const std::string& settled(std::span<const std::int32_t> tokens, std::size_t same = 0);
    // How many tokens it has decoded, those of the prompt and repeated ones among them.
    std::int64_t decoded() const { return decoded_; }

private:
    void begin();
    void add(std::int32_t id);
    void take_settled();

    const Tokenizer& tokenizer_;
    std::vector<std::int32_t> prompt_, tokens_;
    std::string before_;                // the prompt's text
    std::optional<GrowingText> whole_;  // of prompt and tokens
    std::string text_;
    std::int64_t decoded_ = 0;
};

}  // namespace headscope
