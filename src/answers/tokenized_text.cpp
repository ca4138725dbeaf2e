#include "answers/tokenized_text.h"

#include <utility>

namespace headscope {

TokenizedText tokenized(const Tokenizer& tokenizer, const std::string& text) {
    TokenizedText result{text, {}, {}, {}};
    for (Segment& segment : tokenizer.split(text)) {
        result.ids.push_back(tokenizer.id_of(segment));
        result.pieces.push_back(std::move(segment.piece));
        result.spans.push_back(segment.span);
    }
    return result;
}

TokenizedText joined(const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids) {
    TokenizedText result;
    result.ids = ids;
    for (const std::int32_t id : ids) {
        result.pieces.push_back(tokenizer.piece(id));
    }
    JoinedText text = tokenizer.join(ids, Sentinels::Shown);
    result.text = std::move(text.text);
    result.spans = std::move(text.spans);
    return result;
}

}  // namespace headscope
