#include "text/marked_bpe.h"

#include <algorithm>
#include <optional>

#include "text/byte_pieces.h"

namespace headscope {

namespace {

constexpr std::int32_t kUnknown = -1;

// The bytes of the text from which a symbol was made. Of the bytes of a character the last one has it.
ByteSpan span_of(const BpeSymbol& symbol, const AlignedWord& word) {
    const auto character_at = [&](std::size_t byte) {
        const auto behind = std::ranges::upper_bound(word.begins, byte);
        return static_cast<std::size_t>(behind - word.begins.begin()) - 1;
    };
    const std::size_t last = character_at(symbol.end - 1);
    const ByteSpan end = word.spans[last];
    return {word.spans[character_at(symbol.begin)].begin, word.begins[last + 1] == symbol.end ? end.end : end.begin};
}

}  // namespace

MarkedBpe::MarkedBpe(std::shared_ptr<const Vocabulary> vocabulary,
                     const std::vector<std::pair<std::string, std::string>>& merges, MarkedBpeOptions options)
    : vocabulary_(std::move(vocabulary)), merges_(*vocabulary_, merges), options_(std::move(options)) {}

// Those such as <0xE2>, if there are all; otherwise the character is unknown.
void MarkedBpe::append_bytes(std::string_view character, std::size_t begin, std::vector<BpeSymbol>& symbols) const {
    std::vector<std::int32_t> ids;
    for (const char byte : character) {
        ids.push_back(vocabulary_->find(byte_piece(static_cast<unsigned char>(byte))).value_or(kUnknown));
    }
    if (options_.words.byte_fallback && std::ranges::find(ids, kUnknown) == ids.end()) {
        for (std::size_t i = 0; i < ids.size(); ++i) {
            append_symbol(symbols, ids[i], begin + i, begin + i + 1);
        }
    } else if (options_.fuse_unknown && !symbols.empty() && symbols.back().id == kUnknown) {
        symbols.back().end = begin + character.size();
    } else if (options_.has_unknown) {
        append_symbol(symbols, kUnknown, begin, begin + character.size());
    }
}

std::vector<BpeSymbol> MarkedBpe::symbols_of(const AlignedWord& word) const {
    std::vector<BpeSymbol> symbols;
    for (std::size_t i = 0; i < word.size(); ++i) {
        const std::string_view character = word.part(i, i + 1);
        if (const std::optional<std::int32_t> id = vocabulary_->find(character)) {
            append_symbol(symbols, *id, word.begins[i], word.begins[i + 1]);
        } else {
            append_bytes(character, word.begins[i], symbols);
        }
    }
    return symbols;
}

void MarkedBpe::split_word(const AlignedWord& word, std::vector<Segment>& segments) const {
    if (options_.ignore_merges && vocabulary_->find(word.text)) {
        segments.push_back({word.text, {word.spans.front().begin, word.spans.back().end}});
        return;
    }
    std::vector<BpeSymbol> symbols = symbols_of(word);
    merges_.merge(symbols);
    for (const BpeSymbol& symbol : symbols) {
        if (!symbol.merged) {
            segments.push_back({symbol.id == kUnknown ? word.text.substr(symbol.begin, symbol.end - symbol.begin)
                                                      : vocabulary_->piece(symbol.id).text,
                                span_of(symbol, word)});
        }
    }
}

std::vector<Segment> MarkedBpe::split_normalised(AlignedText text, bool begins) const {
    std::vector<Segment> segments;
    for (const AlignedWord& word : marked_words(text, options_.words, begins)) {
        split_word(word, segments);
    }
    return segments;
}

}  // namespace headscope
