#include "text/byte_bpe.h"

#include <algorithm>

#include "text/byte_pieces.h"

namespace headscope {

namespace {

constexpr std::int32_t kUnknown = -1;

std::string characters_of(std::string_view bytes) {
    std::string characters;
    for (const char byte : bytes) {
        characters += character_of_byte(static_cast<unsigned char>(byte));
    }
    return characters;
}

}  // namespace

TextSplit gpt2_words() {
    static const TextSplit words(
        Regex(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", "GPT-2's expression"),
        SplitBehavior::Isolated);
    return words;
}

ByteBpe::ByteBpe(std::shared_ptr<const Vocabulary> vocabulary,
                 const std::vector<std::pair<std::string, std::string>>& merges, ByteBpeOptions options)
    : vocabulary_(std::move(vocabulary)), merges_(*vocabulary_, merges), options_(std::move(options)) {}

std::vector<BpeSymbol> ByteBpe::symbols_of(std::string_view word) const {
    std::vector<BpeSymbol> symbols;
    for (std::size_t at = 0; at < word.size(); ++at) {
        const std::int32_t id =
            vocabulary_->find(character_of_byte(static_cast<unsigned char>(word[at]))).value_or(kUnknown);
        if (id == kUnknown && !options_.has_unknown) {
            continue;
        }
        if (id == kUnknown && options_.fuse_unknown && !symbols.empty() && symbols.back().id == kUnknown) {
            symbols.back().end = at + 1;
            continue;
        }
        append_symbol(symbols, id, at, at + 1);
    }
    return symbols;
}

void ByteBpe::split_word(std::string_view word, std::vector<Segment>& segments) const {
    if (options_.ignore_merges) {
        std::string whole = characters_of(word);
        if (vocabulary_->find(whole)) {
            segments.push_back({std::move(whole), {0, word.size()}});
            return;
        }
    }
    std::vector<BpeSymbol> symbols = symbols_of(word);
    merges_.merge(symbols);
    for (const BpeSymbol& symbol : symbols) {
        if (!symbol.merged) {
            // A merge may cross bytes without a piece, which were dropped.
            segments.push_back({symbol.id >= 0 ? vocabulary_->piece(symbol.id).text
                                               : characters_of(word.substr(symbol.begin, symbol.end - symbol.begin)),
                                {symbol.begin, symbol.end}});
        }
    }
}

void ByteBpe::split_part(std::string_view part, std::size_t begin, std::vector<Segment>& segments) const {
    const std::size_t prefix = options_.add_prefix_space && !part.starts_with(' ') ? 1 : 0;
    std::string prefixed(prefix, ' ');
    prefixed += prefix > 0 ? part : "";
    const std::string_view whole = prefix > 0 ? std::string_view(prefixed) : part;
    // The beginning of the character at this byte; bytes of a character belong to the piece with its last byte.
    const auto place = [&](std::size_t byte) {
        while (byte > 0 && byte < whole.size() && (static_cast<unsigned char>(whole[byte]) & 0xc0U) == 0x80U) {
            --byte;
        }
        return begin + byte - std::min(byte, prefix);
    };
    for (const ByteSpan word : parts_of(whole, options_.words)) {
        const std::size_t first = segments.size();
        split_word(whole.substr(word.begin, word.end - word.begin), segments);
        for (std::size_t i = first; i < segments.size(); ++i) {
            segments[i].span = {place(segments[i].span.begin + word.begin), place(segments[i].span.end + word.begin)};
        }
    }
}

std::vector<Segment> ByteBpe::split(std::string_view text) const {
    std::vector<Segment> segments;
    for (const ByteSpan part : parts_of(text, options_.splits)) {
        split_part(text.substr(part.begin, part.end - part.begin), part.begin, segments);
    }
    return segments;
}

std::unique_ptr<Joiner> ByteBpe::joiner() const {
    return std::make_unique<ByteJoiner>();
}

std::string ByteBpe::readable(std::string_view piece) const {
    return readable_bytes(piece);
}

std::vector<Segment> NormalisedBytes::split_normalised(AlignedText text, bool /*begins*/) const {
    const AlignedWord bytes = utf8_of(text);
    std::vector<Segment> segments = inner_->split(bytes.text);
    for (Segment& segment : segments) {
        segment.span = bytes.source(bytes.character_at(segment.span.begin), bytes.character_at(segment.span.end));
    }
    return segments;
}

}  // namespace headscope
