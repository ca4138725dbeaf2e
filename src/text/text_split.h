// The pre-tokenizers of a tokenizer.json that cut a text into parts: "Split", "Digits" and "WhitespaceSplit".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "text/json_field.h"
#include "text/regex.h"
#include "text/segmenter.h"

namespace headscope {

// What becomes of the matches: they are left out, parts of their own, or joined with what is before or behind them, or
// with adjacent matches.
enum class SplitBehavior : std::uint8_t { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };

class TextSplit {
public:
    // `invert`: what is between the matches counts as the matches.
    TextSplit(Regex pattern, SplitBehavior behavior, bool invert = false);

    // Parts of valid UTF-8 in their order; none is empty.
    std::vector<ByteSpan> parts(std::string_view text) const;

private:
    Regex pattern_;
    SplitBehavior behavior_;
    bool invert_;
};

// The parts of the parts, split by one after the other.
std::vector<ByteSpan> parts_of(std::string_view text, const std::vector<TextSplit>& splits);

// A "Regex" or a "String". Error that names file and key for one that cannot be run.
Regex parse_pattern(const JsonField& field);

// A pre-tokenizer, perhaps a "Sequence": the text is split, then comes `last`, "ByteLevel" or "Metaspace", if there is
// one.
struct PreTokenizer {
    std::vector<TextSplit> splits;
    std::optional<JsonField> last;
};
// Error that names file and key for another pre-tokenizer.
PreTokenizer parse_pre_tokenizer(const JsonField& field);

}  // namespace headscope
