#include "text/marked_words.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "support/utf8.h"
#include "text/byte_pieces.h"
#include "text/character_bounds.h"
#include "text/numbered_pieces.h"
#include "text/white_space.h"

namespace headscope {

namespace {

constexpr char32_t kMark = U'\u2581';

// Runs without white space, or the whole text.
std::vector<AlignedText> parts_between_blanks(AlignedText text, bool split_at_white_space) {
    if (!split_at_white_space) {
        return {std::move(text)};
    }
    std::vector<AlignedText> parts;
    bool in_part = false;
    for (const AlignedCharacter& one : text) {
        const bool blank = is_white_space(one.c);
        if (!blank && !in_part) {
            parts.emplace_back();
        }
        if (!blank) {
            parts.back().push_back(one);
        }
        in_part = !blank;
    }
    return parts;
}

// The bytes as text, or U+FFFD for each of them.
void append_all_bytes(JoinedText& joined, const std::string& bytes) {
    if (first_invalid_utf8(bytes)) {
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            const std::size_t begin = joined.text.size();
            joined.text += "\ufffd";
            joined.spans.push_back({begin, joined.text.size()});
        }
        return;
    }
    const std::vector<std::size_t> bounds = character_bounds(bytes);
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {  // the last byte has the character
        const std::size_t begin = joined.text.size();
        joined.text += bytes.substr(bounds[i], bounds[i + 1] - bounds[i]);
        joined.spans.insert(joined.spans.end(), bounds[i + 1] - bounds[i] - 1, {begin, begin});
        joined.spans.push_back({begin, joined.text.size()});
    }
}

}  // namespace

std::vector<AlignedWord> marked_words(std::string_view text, const MarkedWordsOptions& options) {
    std::vector<AlignedWord> words;
    for (AlignedText& part : parts_between_blanks(options.normalizer(aligned(text)), options.split_at_white_space)) {
        for (AlignedCharacter& one : part) {
            one.c = one.c == U' ' ? kMark : one.c;
        }
        if (options.add_mark && !part.empty() && part.front().c != kMark) {
            const std::size_t begin = part.front().span.begin;
            part.insert(part.begin(), {kMark, {begin, begin}});
        }
        for (std::size_t i = 0; i < part.size(); ++i) {
            if (i == 0 || (options.split_at_marks && part[i].c == kMark)) {
                words.emplace_back();
            }
            words.back().append(part[i]);
        }
    }
    return words;
}

JoinedText join_marked(const std::vector<std::string_view>& pieces, const MarkedWordsOptions& options) {
    JoinedText joined;
    std::string bytes;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const std::optional<char> byte = options.join_bytes ? byte_of_piece(pieces[i]) : std::nullopt;
        if (byte) {
            bytes += *byte;
            continue;
        }
        append_all_bytes(joined, std::exchange(bytes, {}));
        const std::size_t begin = joined.text.size();
        joined.text += with_marks_as(i == 0 && options.drop_first_marks ? "" : " ", pieces[i]);
        joined.spans.push_back({begin, joined.text.size()});
    }
    append_all_bytes(joined, bytes);
    if (options.drop_first_space && joined.text.starts_with(' ')) {
        joined.text.erase(0, 1);
        for (ByteSpan& span : joined.spans) {
            span = {span.begin - std::min<std::size_t>(span.begin, 1), span.end - std::min<std::size_t>(span.end, 1)};
        }
    }
    return joined;
}

}  // namespace headscope
