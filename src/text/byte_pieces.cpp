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
    for (std::size_t length = std::min<std::size_t>(3, text.size()); length > 1; --length) {
        // The beginning of a character can be completed by bytes at the low or the high end of their range.
        for (const char more : {'\x80', '\xbf'}) {
            std::string completed(text.substr(0, length));
            while (completed.size() < 4) {
                completed += more;
                std::size_t at = 0;
                if (next_code_point(completed, at) && at == completed.size()) {
                    return length;
                }
            }
        }
    }
    return 1;
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

JoinedText text_of_bytes(std::string_view bytes, const std::vector<std::size_t>& ends) {
    JoinedText joined;
    std::size_t piece = 0;
    std::size_t before = 0;  // where the next piece's text begins
    const auto finish_pieces = [&](std::size_t first_byte, std::size_t begin_of_text) {
        for (; piece < ends.size() && ends[piece] < first_byte; ++piece) {
            joined.spans.push_back({before, begin_of_text});
            before = begin_of_text;
        }
    };
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t first = at;
        const std::size_t begin = joined.text.size();
        if (next_code_point(bytes, at)) {
            joined.text += bytes.substr(first, at - first);
        } else {
            at = first + ill_formed_length(bytes.substr(first));
            joined.text += kReplacement;
        }
        finish_pieces(at, begin);  // pieces that end within this character
    }
    finish_pieces(bytes.size() + 1, joined.text.size());
    return joined;
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
