// Finds added tokens in a text.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/added_token.h"
#include "text/segmenter.h"

namespace headscope {

class TokenFinder {
public:
    // The contents are what is searched for. Of equal ones the first counts.
    explicit TokenFinder(std::vector<AddedToken> tokens);
    // The places in `tokens_` refer to it.
    TokenFinder(const TokenFinder&) = delete;
    TokenFinder& operator=(const TokenFinder&) = delete;

    struct Found {
        std::size_t token;  // its place in the list
        ByteSpan span;      // with the white space that it takes
    };
    // From the left, the longest at each place. The spans do not overlap.
    std::vector<Found> find(std::string_view text) const;
    const std::vector<AddedToken>& tokens() const { return tokens_; }

private:
    // The place of the longest token with which the text begins.
    const std::size_t* token_at(std::string_view text) const;

    const std::vector<AddedToken> tokens_;
    std::unordered_map<std::string_view, std::size_t> places_;
    std::vector<std::size_t> sizes_;  // descending
    std::array<bool, 256> first_bytes_{};
};

}  // namespace headscope
