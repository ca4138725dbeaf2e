#include "text/marked_words.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "support/utf8.h"
#include "text/byte_pieces.h"
#include "text/numbered_pieces.h"

namespace headscope {

namespace {

constexpr char32_t kMark = U'\u2581';

// The text, or its parts.
std::vector<AlignedText> split_text(const AlignedText& text, const std::vector<TextSplit>& splits) {
    if (splits.empty()) {
        return {text};
    }
    const AlignedWord bytes = utf8_of(text);
    std::vector<AlignedText> parts;
    for (const ByteSpan part : parts_of(bytes.text, splits)) {
        const auto place = [&](std::size_t byte) {
            return text.begin() + static_cast<std::ptrdiff_t>(bytes.character_at(byte));
        };
        parts.emplace_back(place(part.begin), place(part.end));
    }
    return parts;
}

bool adds_mark(const AlignedText& part, const AlignedText& text, const MarkedWordsOptions& options, bool begins) {
    if (part.empty() || part.front().c == kMark) {
        return false;
    }
    const bool is_first = begins && part.front().span == text.front().span;
    return options.added_marks == AddedMarks::All || (options.added_marks == AddedMarks::First && is_first);
}

class MetaspaceJoiner final : public Joiner {
public:
    explicit MetaspaceJoiner(const MarkedWordsOptions& options) : options_(options) {}

    // Of adjacent bytes all are text, or all are U+FFFD.
    void add(std::string_view piece, JoinedText& joined) override {
        const bool first = std::exchange(first_, false);
        if (const auto byte = options_.join_bytes ? byte_of_piece(piece) : std::nullopt) {
            bytes_ += *byte;
            return;
        }
        flush(joined);
        append(with_marks_as(first && options_.drop_first_marks ? "" : " ", piece), joined);
    }

    void finish(JoinedText& joined) const override { MetaspaceJoiner(*this).flush(joined); }

private:
    // A piece's text.
    void append(std::string_view text, JoinedText& joined) {
        const std::size_t begin = joined.text.size();
        const bool begins = !text.empty() && !std::exchange(begun_, begun_ || !text.empty());
        text.remove_prefix(begins && options_.drop_first_space && text.front() == ' ' ? 1 : 0);
        joined.text += text;
        joined.spans.push_back({begin, joined.text.size()});
    }

    void flush(JoinedText& joined) {
        const std::string bytes = std::exchange(bytes_, {});
        const bool valid = !first_invalid_utf8(bytes);
        for (std::size_t at = 0; at < bytes.size();) {
            const std::size_t first = at;
            next_character(bytes, at);
            for (std::size_t byte = first + 1; byte < at; ++byte) {  // the last byte has the character
                append(valid ? "" : "\ufffd", joined);
            }
            append(valid ? std::string_view(bytes).substr(first, at - first) : "\ufffd", joined);
        }
    }

    const MarkedWordsOptions& options_;
    std::string bytes_;
    bool first_ = true;   // no piece has come
    bool begun_ = false;  // there is text
};

}  // namespace

std::vector<AlignedWord> marked_words(const AlignedText& text, const MarkedWordsOptions& options, bool begins) {
    std::vector<AlignedWord> words;
    for (AlignedText& part : split_text(text, options.splits)) {
        for (AlignedCharacter& one : part) {
            one.c = options.mark_spaces && one.c == U' ' ? kMark : one.c;
        }
        if (adds_mark(part, text, options, begins)) {
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

std::unique_ptr<Joiner> marked_joiner(const MarkedWordsOptions& options) {
    return std::make_unique<MetaspaceJoiner>(options);
}

}  // namespace headscope
