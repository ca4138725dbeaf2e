#include "text/normalizers.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include <utf8proc.h>

#include "io/proto_wire.h"
#include "text/character_map.h"
#include "text/normal_form.h"
#include "text/text_split.h"
#include "text/white_space.h"

namespace headscope {

namespace {

Normalizer replacing(const JsonField& field) {
    return [pattern = parse_pattern(field["pattern"]),
            content = code_points(field["content"].get<std::string>(""))](const AlignedText& text) {
        const AlignedWord bytes = utf8_of(text);
        const auto place = [&](std::size_t character) { return text.begin() + static_cast<std::ptrdiff_t>(character); };
        AlignedText replaced;
        std::size_t done = 0;
        for (const ByteSpan match : pattern.matches(bytes.text)) {
            const std::size_t begin = bytes.character_at(match.begin);
            const std::size_t end = bytes.character_at(match.end);
            replaced.insert(replaced.end(), place(done), place(begin));
            append_made_from(replaced, content, bytes.source(begin, end));
            done = end;
        }
        replaced.insert(replaced.end(), place(done), text.end());
        return replaced;
    };
}

constexpr std::array<std::pair<const char*, int>, 4> kNormalForms{
    {{"NFC", UTF8PROC_STABLE | UTF8PROC_COMPOSE},
     {"NFD", UTF8PROC_STABLE | UTF8PROC_DECOMPOSE},
     {"NFKC", UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT},
     {"NFKD", UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT}}};

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
    for (const auto& [name, options] : kNormalForms) {
        if (type == name) {
            return [options = options](const AlignedText& text) { return normalised_by(text, options); };
        }
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
    field.reject(
        R"(is not supported: only "Precompiled", "NFC", "NFD", "NFKC", "NFKD", "Replace", "Strip", "Prepend" and "Sequence" are)");
}

}  // namespace headscope
