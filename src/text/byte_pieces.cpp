#include "text/byte_pieces.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <unordered_map>

#include <fmt/format.h>

#include "support/utf8.h"

namespace headscope {

namespace {

constexpr std::string_view kReplacement = "\ufffd";

bool is_printable(int byte) {
    return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xff && byte != 0xad);
}

struct Alphabet {
    std::array<std::string, 256> characters;
    std::unordered_map<char32_t, char> bytes;

    Alphabet() {
        char32_t next = 0x100;
        for (int byte = 0; byte < 256; ++byte) {
            const char32_t c = is_printable(byte) ? static_cast<char32_t>(byte) : next++;
            bytes.emplace(c, static_cast<char>(byte));
            // All are below U+0800.
            characters[static_cast<std::size_t>(byte)] =
                c < 0x80 ? std::string(1, static_cast<char>(c))
                         : std::string{static_cast<char>(0xc0U | (c >> 6U)), static_cast<char>(0x80U | (c & 0x3fU))};
        }
    }
};

const Alphabet& alphabet() {
    static const Alphabet made;
    return made;
}

// The length of the ill-formed part that begins the text: the longest beginning of a well-formed character, or a byte.
std::size_t ill_formed_length(std::string_view text) {
    std::size_t length = std::min<std::size_t>(3, text.size());
    while (length > 1 && !begins_character(text.substr(0, length))) {
        --length;
    }
    return length;
}

}  // namespace

const std::string& character_of_byte(unsigned char byte) {
    return alphabet().characters[byte];
}

std::optional<std::string> bytes_of_characters(std::string_view piece) {
    std::string bytes;
    for (std::size_t at = 0; at < piece.size();) {
        const std::optional<char32_t> c = next_code_point(piece, at);
        const auto found = c ? alphabet().bytes.find(*c) : alphabet().bytes.end();
        if (found == alphabet().bytes.end()) {
            return std::nullopt;
        }
        bytes += found->second;
    }
    return bytes;
}

bool begins_character(std::string_view bytes) {
    // It can be completed by bytes at the low or the high end of their range.
    for (const char more : {'\x80', '\xbf'}) {
        std::string completed(bytes);
        while (!bytes.empty() && completed.size() < 4) {
            completed += more;
            std::size_t at = 0;
            if (next_code_point(completed, at) && at == completed.size()) {
                return true;
            }
        }
    }
    return false;
}

void ByteJoiner::add(std::string_view piece, JoinedText& joined) {
    add_bytes(bytes_of_characters(piece).value_or(std::string(piece)), joined);
}

void ByteJoiner::add_bytes(std::string_view bytes, JoinedText& joined) {
    const std::size_t held = bytes_.size();
    bytes_ += bytes;
    std::size_t at = 0;
    while (at < bytes_.size() && !begins_character(std::string_view(bytes_).substr(at))) {
        const std::size_t first = at;
        if (next_code_point(bytes_, at)) {
            joined.text += bytes_.substr(first, at - first);
        } else {
            at = first + ill_formed_length(std::string_view(bytes_).substr(first));
            joined.text += kReplacement;
        }
        if (held > 0 && at == held) {  // what was held back is no character
            joined.spans.back().end = joined.text.size();
        }
    }
    bytes_.erase(0, at);
    joined.spans.push_back({joined.spans.empty() ? 0 : joined.spans.back().end, joined.text.size()});
}

void ByteJoiner::finish(JoinedText& joined) const {
    if (!bytes_.empty()) {
        joined.text += kReplacement;
        joined.spans.back().end = joined.text.size();
    }
}

std::string byte_piece(unsigned char byte) {
    return fmt::format("<0x{:02X}>", byte);
}

std::optional<char> byte_of_piece(std::string_view piece) {
    if (piece.size() != 6 || !piece.starts_with("<0x") || !piece.ends_with('>')) {
        return std::nullopt;
    }
    unsigned value = 0;
    const auto [end, problem] = std::from_chars(piece.data() + 3, piece.data() + 5, value, 16);
    return problem == std::errc() && end == piece.data() + 5 ? std::optional(static_cast<char>(value)) : std::nullopt;
}

std::string readable_bytes(std::string_view piece) {
    const std::optional<std::string> bytes = bytes_of_characters(piece);
    if (!bytes) {
        return std::string(piece);
    }
    std::string text;
    for (std::size_t at = 0; at < bytes->size();) {
        const std::size_t first = at;
        text += next_code_point(*bytes, at) ? bytes->substr(first, at - first)
                                            : byte_piece(static_cast<unsigned char>((*bytes)[first]));
    }
    return text;
}

}  // namespace headscope
