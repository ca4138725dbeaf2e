#include "text/chat_encoder.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/check.h"
#include "support/utf8.h"
#include "text/white_space.h"

namespace headscope {

namespace {

// The piece, unless it is made of a text's characters.
std::optional<std::int32_t> marker_id(const Vocabulary& vocabulary, std::string_view text) {
    const std::optional<std::int32_t> id = vocabulary.find(text);
    const PieceKind kind = id ? vocabulary.piece(*id).kind : PieceKind::Unknown;
    return kind == PieceKind::Unknown || kind == PieceKind::Byte || kind == PieceKind::Unused ? std::nullopt : id;
}

// What the tokenizer does with a marker in a text: whether it finds it, and takes the white space after it.
struct MarkerUse {
    bool is_found, takes_blanks;
};

MarkerUse use_of(const Tokenizer& tokenizer, std::string_view marker) {
    const std::vector<Segment> segments = tokenizer.split(std::string(marker) + "\n");
    const bool is_found = !segments.empty() && segments.front().added && segments.front().piece == marker;
    return {is_found, is_found && segments.front().span.end > marker.size()};
}

// Without the white space at its beginning.
std::string_view without_blanks(std::string_view text) {
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size() && is_white_space(next_character(text, at)); begin = at) {
    }
    return text.substr(begin);
}

}  // namespace

// Collects the ids of parts, one text between two markers after the other.
class ChatEncoder::Writer {
public:
    explicit Writer(const ChatEncoder& encoder) : encoder_(encoder) {}

    void start(std::span<const std::int32_t> ids) {
        for (const std::int32_t id : ids) {
            add(id, false);
        }
    }

    void add(const ChatPart& part) {
        std::string_view text = part.text;
        while (part.literal) {
            const FoundMarker found = encoder_.next_marker(text);
            if (found.marker == nullptr) {
                break;
            }
            append(text.substr(0, found.at), part.replied);
            finish();
            add(found.marker->id, part.replied);
            text.remove_prefix(found.at + found.marker->text.size());
            drops_blanks_ = found.marker->takes_blanks;
        }
        append(text, part.replied);
    }

    ChatIds take() && {
        finish();
        return std::move(out_);
    }

private:
    void add(std::int32_t id, bool replied) {
        out_.ids.push_back(id);
        out_.replied.push_back(replied);
    }

    void append(std::string_view text, bool replied) {
        if (drops_blanks_) {
            text = without_blanks(text);
        }
        if (text.empty()) {
            return;
        }
        drops_blanks_ = false;
        if (replied) {
            replied_from_ = std::min(replied_from_, text_.size());
        }
        text_ += text;
    }

    // Text before a reply is split as if the reply were not there yet, if splitting both together would join them.
    void finish() {
        const bool begins = out_.ids.empty();
        std::vector<Segment> segments = encoder_.split(text_, begins);
        std::size_t before = segments.size();
        if (replied_from_ < text_.size()) {
            std::vector<Segment> head = encoder_.split(text_.substr(0, replied_from_), begins);
            before = head.size();
            const bool same = before <= segments.size() && std::ranges::equal(head, std::span(segments).first(before),
                                                                              {}, &Segment::piece, &Segment::piece);
            if (!same) {
                std::ranges::move(encoder_.split(text_.substr(replied_from_), false), std::back_inserter(head));
                segments = std::move(head);
            }
        }
        for (std::size_t i = 0; i < segments.size(); ++i) {
            add(encoder_.tokenizer_->id_of(segments[i]), i >= before);
        }
        text_.clear();
        replied_from_ = std::string::npos;
    }

    const ChatEncoder& encoder_;
    ChatIds out_;
    std::string text_;  // since the last marker
    std::size_t replied_from_ = std::string::npos;
    bool drops_blanks_ = false;  // the last marker takes them
};

ChatEncoder::ChatEncoder(const ChatTemplate& chat, std::shared_ptr<const Tokenizer> tokenizer,
                         std::vector<std::int32_t> start)
    : chat_(chat), tokenizer_(std::move(tokenizer)), start_(std::move(start)) {
    std::vector<std::string_view> missing;
    add_markers(chat.pieces, missing);
    if (!missing.empty()) {
        throw Error(
            fmt::format("{} lacks {} of the chat template {}: the model was not trained with it; name another "
                        "template, or a model that has these pieces",
                        tokenizer_->name(), fmt::join(missing, ", "), chat.name));
    }
    add_markers(chat.words, words_);
    std::string_view end = chat.reply.end;
    const FoundMarker last = next_marker(end);
    HEADSCOPE_CHECK(last.marker != nullptr && end.ends_with(last.marker->text), "a reply ends with a piece");
    ends_ = {last.marker->id};
}

void ChatEncoder::add_markers(std::span<const char* const> texts, std::vector<std::string_view>& missing) {
    for (const char* text : texts) {
        if (const auto id = marker_id(tokenizer_->vocabulary(), text)) {
            const MarkerUse use = use_of(*tokenizer_, text);
            markers_.push_back({text, *id, use.takes_blanks});
            carrier_ = carrier_.empty() && use.is_found ? text : carrier_;
        } else {
            missing.emplace_back(text);
        }
    }
}

ChatEncoder::FoundMarker ChatEncoder::next_marker(std::string_view literal) const {
    FoundMarker first{nullptr, literal.size()};
    for (const Marker& marker : markers_) {
        if (const std::size_t at = literal.find(marker.text); at < first.at) {
            first = {&marker, at};
        }
    }
    return first;
}

bool ChatEncoder::is_special(const Segment& segment) const {
    const std::int32_t id = tokenizer_->id_of(segment);
    return std::ranges::find(markers_, id, &Marker::id) != markers_.end() ||
           tokenizer_->vocabulary().piece(id).kind == PieceKind::Control;
}

// The pieces of a text at the beginning, or behind a marker.
std::vector<Segment> ChatEncoder::pieces_of(std::string_view text, bool begins) const {
    if (begins || carrier_.empty() || text.empty()) {
        return tokenizer_->split(text);
    }
    std::vector<Segment> segments = tokenizer_->split(std::string(carrier_) + std::string(text));
    segments.erase(segments.begin());
    for (Segment& segment : segments) {
        segment.span = {segment.span.begin - carrier_.size(), segment.span.end - carrier_.size()};
    }
    return segments;
}

// Tokenizers find control pieces in every text: such a one is cut behind its first character.
std::vector<Segment> ChatEncoder::split(std::string_view text, bool begins) const {
    std::vector<Segment> segments = pieces_of(text, begins);
    const auto special = [&](const Segment& segment) { return is_special(segment); };
    if (std::ranges::none_of(segments, special)) {
        return segments;
    }
    std::vector<Segment> apart;
    std::size_t done = 0;
    const auto split_until = [&](std::size_t end) {
        std::ranges::move(pieces_of(text.substr(done, end - done), begins && done == 0), std::back_inserter(apart));
        done = end;
    };
    for (const Segment& segment : segments) {
        if (special(segment)) {
            split_until(segment.span.begin + 1);
        }
    }
    split_until(text.size());
    if (const auto left = std::ranges::find_if(apart, special); left != apart.end()) {
        throw Error(fmt::format("a message's text is read as '{}', which only the chat template may write: change it",
                                left->piece));
    }
    return apart;
}

void ChatEncoder::check_contents(std::span<const ChatMessage> messages) const {
    for (const ChatMessage& message : messages) {
        if (const auto at = first_invalid_utf8(message.content)) {
            throw Error(fmt::format("a message of the {} is not UTF-8: byte {} is 0x{:02x}; convert it to UTF-8",
                                    name_of(message.role), *at + 1, static_cast<unsigned char>(message.content[*at])));
        }
    }
    for (const std::string_view word : words_) {
        for (const ChatMessage& message : messages) {
            if (message.content.find(word) != std::string::npos) {
                throw Error(
                    fmt::format("a message of the {} has '{}', which would be read as a part of the chat "
                                "template {}: leave it out",
                                name_of(message.role), word, chat_.name));
            }
        }
    }
}

std::size_t ChatEncoder::usable(std::string_view content) const {
    std::size_t bytes = first_invalid_utf8(content).value_or(content.size());
    for (const std::string_view word : words_) {
        bytes = std::min(bytes, content.find(word));
    }
    return bytes;
}

ChatIds ChatEncoder::encode(std::span<const ChatMessage> messages, ChatEnd end) const {
    check_contents(messages);
    Writer writer(*this);
    if (chat_.begins_as_texts) {
        writer.start(start_);
    }
    for (const ChatPart& part : chat_parts(chat_, messages, end)) {
        writer.add(part);
    }
    return std::move(writer).take();
}

}  // namespace headscope
