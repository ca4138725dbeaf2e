#include "text/character_map.h"

#include <utf8proc.h>

#include "io/proto_wire.h"
#include "support/utf8.h"

namespace headscope {

namespace {

std::uint32_t u32_at_begin(std::string_view bytes) {
    std::uint32_t value = 0;
    for (std::size_t byte = 4; byte-- > 0;) {
        value = (value << 8U) | static_cast<unsigned char>(bytes[byte]);
    }
    return value;
}

// A 32-bit unit of a double-array trie. It leads to a block of 256 units.
struct Unit {
    std::uint32_t bits;

    bool is_leaf() const { return (bits & 0x80000000U) != 0; }
    std::uint32_t value() const { return bits & 0x7fffffffU; }  // of a leaf
    bool has_leaf() const { return (bits & 0x100U) != 0; }      // the block begins with a leaf
    std::uint32_t label() const { return bits & 0x800000ffU; }
    // Bit 9: in steps of 256.
    std::uint32_t block(std::uint32_t at) const { return at ^ ((bits >> 10U) << ((bits & 0x200U) != 0 ? 8U : 0U)); }
};

// The table consists of the size of a trie, its units, and the replacements, each ended by 0. A leaf has a position in
// the replacements.
struct Table {
    std::string_view trie, replacements;

    Unit unit(std::uint32_t at) const { return {u32_at_begin(trie.substr(std::size_t{4} * at))}; }
};

Table trie_and_text(std::string_view table) {
    const std::uint32_t trie_bytes = u32_at_begin(table);
    return {table.substr(4, trie_bytes), table.substr(4 + std::size_t{trie_bytes})};
}

}  // namespace

void CharacterMap::check(std::string_view table) {
    constexpr std::size_t kBlock = 256;
    const WireError damaged("its normalization table is damaged");
    if (table.empty()) {
        return;  // no normalization
    }
    if (table.size() < 4) {
        throw damaged;
    }
    const std::uint32_t trie_bytes = u32_at_begin(table);
    if (trie_bytes > table.size() - 4 || trie_bytes == 0 || trie_bytes % (4 * kBlock) != 0) {
        throw damaged;
    }
    const Table parts = trie_and_text(table);
    if (parts.replacements.empty() || parts.replacements.back() != '\0') {
        throw damaged;
    }
    const std::uint32_t units = trie_bytes / 4;
    for (std::uint32_t at = 0; at < units; ++at) {
        const Unit unit = parts.unit(at);
        if (unit.is_leaf() && at > 0) {
            continue;  // checked below through its parent
        }
        const std::uint32_t block = unit.block(at);
        if ((block | (kBlock - 1)) >= units) {
            throw damaged;
        }
        if (unit.has_leaf() && parts.unit(block).value() >= parts.replacements.size()) {
            throw damaged;
        }
    }
}

std::optional<std::string_view> CharacterMap::find(std::string_view text) const {
    const Table table = trie_and_text(table_);
    std::uint32_t block = table.unit(0).block(0);
    for (const char byte : text) {
        const std::uint32_t at = block ^ static_cast<unsigned char>(byte);
        const Unit unit = table.unit(at);
        if (byte == '\0' || unit.label() != static_cast<unsigned char>(byte)) {
            break;
        }
        block = unit.block(at);
        if (unit.has_leaf()) {
            const std::string_view from = table.replacements.substr(table.unit(block).value());
            return from.substr(0, from.find('\0'));
        }
    }
    return std::nullopt;
}

AlignedText CharacterMap::apply(const AlignedText& text) const {
    if (table_.empty()) {
        return text;
    }
    constexpr std::size_t kShort = 6;  // bytes
    AlignedText mapped;
    const auto map = [&](std::string_view part, ByteSpan span) {
        const std::optional<std::string_view> found = find(part);
        std::u32string characters;
        for (std::size_t at = 0; found && at < found->size();) {
            characters += next_character(*found, at);
        }
        append_made_from(mapped, characters, span);
        return found.has_value();
    };
    utf8proc_int32_t state = 0;
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
        AlignedWord grapheme;
        do {
            grapheme.append(text[end++]);
        } while (end < text.size() &&
                 !utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(text[end - 1].c),
                                                   static_cast<utf8proc_int32_t>(text[end].c), &state));
        if (grapheme.text.size() < kShort && map(grapheme.text, {text[begin].span.begin, text[end - 1].span.end})) {
            continue;
        }
        for (std::size_t i = 0; i < grapheme.size(); ++i) {
            if (!map(grapheme.part(i, i + 1), grapheme.spans[i])) {
                mapped.push_back(text[begin + i]);
            }
        }
    }
    return mapped;
}

}  // namespace headscope
