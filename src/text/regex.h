// Regular expressions of tokenizer.json files, which are written for Oniguruma. PCRE2 runs them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/segmenter.h"

namespace headscope {

// Thread-safe. Copies share the compiled expression.
class Regex {
public:
    enum class Syntax : std::uint8_t { Expression, Literal };

    // `place` names the expression in messages. Error for one that PCRE2 rejects, and for parts that have another
    // meaning in Oniguruma.
    Regex(std::string_view pattern, std::string place, Syntax syntax = Syntax::Expression);

    // All matches in valid UTF-8, from the left, without overlaps. As in Oniguruma's iteration, an empty match does not
    // follow another match directly. Error if the expression takes too many steps.
    std::vector<ByteSpan> matches(std::string_view text) const;

private:
    std::string place_;
    std::shared_ptr<const void> code_;
    bool compiled_ = false;  // to machine code
};

}  // namespace headscope
