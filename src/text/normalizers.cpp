#include "text/normalizers.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "io/proto_wire.h"
#include "support/utf8.h"
#include "text/character_map.h"
#include "text/white_space.h"

namespace headscope {

namespace {

// The number of characters that match at this place, 0 if none do.
using Pattern = std::function<std::size_t(const AlignedText& text, std::size_t at)>;

std::size_t spaces_at(const AlignedText& text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && text[end].c == U' ') {
        ++end;
    }
    return end - at;
}

std::u32string code_points(std::string_view text) {
    std::u32string characters;
    for (std::size_t at = 0; at < text.size();) {
        characters += next_character(text, at);
    }
    return characters;
}

// The regular expressions that conversions of SentencePiece models write.
Pattern parse_expression(const JsonField& field) {
    const auto expression = field.get<std::string>("");
    if (expression == " {2,}") {
        return [](const AlignedText& text, std::size_t at) {
            const std::size_t spaces = spaces_at(text, at);
            return spaces < 2 ? 0 : spaces;
        };
    }
    if (expression == "\\A +| +\\z") {
        return [](const AlignedText& text, std::size_t at) {
            const std::size_t spaces = spaces_at(text, at);
            return at == 0 || at + spaces == text.size() ? spaces : 0;
        };
    }
    if (expression == "\\A\u2581") {
        return [](const AlignedText& text, std::size_t at) -> std::size_t {
            return at == 0 && text[at].c == U'\u2581' ? 1 : 0;
        };
    }
    field.reject(R"(is not supported: only " {2,}", "\A +| +\z" and "\A▁" are)");
}

Pattern parse_pattern(const JsonField& field) {
    if (field["String"].is_null()) {
        return parse_expression(field["Regex"]);
    }
    const std::u32string literal = code_points(field["String"].get<std::string>(""));
    field["String"].require(!literal.empty(), "is empty");
    return [literal](const AlignedText& text, std::size_t at) {
        const bool found = text.size() - at >= literal.size() &&
                           std::equal(literal.begin(), literal.end(), text.begin() + static_cast<std::ptrdiff_t>(at),
                                      [](char32_t one, const AlignedCharacter& other) { return one == other.c; });
        return found ? literal.size() : 0;
    };
}

Normalizer replacing(const JsonField& field) {
    return [pattern = parse_pattern(field["pattern"]),
            content = code_points(field["content"].get<std::string>(""))](const AlignedText& text) {
        AlignedText replaced;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t count = pattern(text, at);
            if (count == 0) {
                replaced.push_back(text[at++]);
                continue;
            }
            append_made_from(replaced, content, {text[at].span.begin, text[at + count - 1].span.end});
            at += count;
        }
        return replaced;
    };
}

Normalizer stripping(const JsonField& field) {
    return [left = field["strip_left"].get(true), right = field["strip_right"].get(true)](AlignedText text) {
        const auto is_blank = [](const AlignedCharacter& one) { return is_white_space(one.c); };
        if (right) {
            text.erase(std::find_if_not(text.rbegin(), text.rend(), is_blank).base(), text.end());
        }
        if (left) {
            text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), is_blank));
        }
        return text;
    };
}

Normalizer prepending(const JsonField& field) {
    return [content = code_points(field["prepend"].get<std::string>(""))](AlignedText text) {
        AlignedText longer;
        if (!text.empty()) {
            const std::size_t begin = text.front().span.begin;
            append_made_from(longer, content, {begin, begin});
        }
        longer.insert(longer.end(), text.begin(), text.end());
        return longer;
    };
}

// Base64 (RFC 4648), without other characters in it.
std::string decoded_base64(const JsonField& field) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const auto text = field.get<std::string>("");
    std::string bytes;
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const char digit : std::string_view(text).substr(0, text.find_last_not_of('=') + 1)) {
        const std::size_t value = kDigits.find(digit);
        field.require(value != std::string_view::npos, "is not Base64");
        bits = (bits << 6U) | static_cast<std::uint32_t>(value);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes += static_cast<char>((bits >> count) & 0xffU);
        }
    }
    return bytes;
}

Normalizer mapping_characters(const JsonField& field) {
    const JsonField table = field["precompiled_charsmap"];
    try {
        auto map = std::make_shared<const CharacterMap>(decoded_base64(table));
        return [map = std::move(map)](const AlignedText& text) { return map->apply(text); };
    } catch (const WireError&) {
        table.reject("is damaged: download the file again");
    }
}

}  // namespace

Normalizer parse_normalizer(const JsonField& field) {
    const std::string type = field.type();
    if (field.is_null()) {
        return [](AlignedText text) { return text; };
    }
    if (type == "Sequence") {
        std::vector<Normalizer> steps;
        for (const JsonField& step : field["normalizers"].elements()) {
            steps.push_back(parse_normalizer(step));
        }
        return [steps = std::move(steps)](AlignedText text) {
            for (const Normalizer& step : steps) {
                text = step(std::move(text));
            }
            return text;
        };
    }
    if (type == "Precompiled") {
        return mapping_characters(field);
    }
    if (type == "Replace") {
        return replacing(field);
    }
    if (type == "Strip") {
        return stripping(field);
    }
    if (type == "Prepend") {
        return prepending(field);
    }
    field.reject(R"(is not supported: only "Precompiled", "Replace", "Strip", "Prepend" and "Sequence" are)");
}

}  // namespace headscope
