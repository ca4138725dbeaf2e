#include "text/byte_bpe.h"

#include <algorithm>

#include "text/byte_pieces.h"
#include "text/gpt2_words.h"

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

ByteBpe::ByteBpe(std::shared_ptr<const Vocabulary> vocabulary,
                 const std::vector<std::pair<std::string, std::string>>& merges, ByteBpeOptions options)
    : vocabulary_(std::move(vocabulary)), merges_(*vocabulary_, merges), options_(options) {}

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

std::vector<Segment> ByteBpe::split(std::string_view text) const {
    std::string prefixed;
    const std::size_t prefix = options_.add_prefix_space && !text.starts_with(' ') ? 1 : 0;
    if (prefix > 0) {
        prefixed = " ";
        prefixed += text;
    }
    const std::string_view whole = prefix > 0 ? std::string_view(prefixed) : text;
    // The beginning of the character at this byte; bytes of a character belong to the piece with its last byte.
    const auto place = [&](std::size_t byte) {
        while (byte > 0 && byte < whole.size() && (static_cast<unsigned char>(whole[byte]) & 0xc0U) == 0x80U) {
            --byte;
        }
        return byte - std::min(byte, prefix);
    };
    std::vector<Segment> segments;
    std::size_t begin = 0;
    for (const std::string_view word : options_.use_regex ? gpt2_words(whole) : std::vector<std::string_view>{whole}) {
        const std::size_t first = segments.size();
        split_word(word, segments);
        for (std::size_t i = first; i < segments.size(); ++i) {
            segments[i].span = {place(segments[i].span.begin + begin), place(segments[i].span.end + begin)};
        }
        begin += word.size();
    }
    return segments;
}

std::unique_ptr<Joiner> ByteBpe::joiner() const {
    return std::make_unique<ByteJoiner>();
}

std::string ByteBpe::readable(std::string_view piece) const {
    return readable_bytes(piece);
}

}  // namespace headscope
