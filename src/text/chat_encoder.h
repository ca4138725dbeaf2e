// The ids of conversations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace headscope {

struct ChatIds {
    std::vector<std::int32_t> ids;
    // For each id, whether it is of a reply: of its content, or of the end that the model must write after it. What a
    // template has before a reply and behind its end is not.
    std::vector<bool> replied;
};

// A template with the pieces of a vocabulary. Encodes the text of conversations (chat_text), in which no content gives
// a special piece or a marker of the template: nobody's text opens or ends a turn. The ids of an opened reply begin
// those of the same conversation with that reply.
class ChatEncoder {
public:
    // `start`: the ids with which the model's texts begin (Frame::start_of_text). Error that names the markers that the
    // vocabulary lacks.
    ChatEncoder(const ChatTemplate& chat, std::shared_ptr<const Tokenizer> tokenizer, std::vector<std::int32_t> start);

    // Error for messages in a wrong order (check_messages), and for content that is not UTF-8 or has a marker that is
    // text in this vocabulary.
    ChatIds encode(std::span<const ChatMessage> messages, ChatEnd end) const;
    // How many bytes of a content encode() takes: those before what it refuses.
    std::size_t usable(std::string_view content) const;
    // The ids that end a reply: the last of each is one of them.
    const std::vector<std::int32_t>& ends() const { return ends_; }
    const ChatTemplate& chat() const { return chat_; }

private:
    struct Marker {
        std::string_view text;
        std::int32_t id;
        bool takes_blanks;  // the white space after it
    };
    struct FoundMarker {
        const Marker* marker;  // null if there is none
        std::size_t at;
    };
    class Writer;

    void add_markers(std::span<const char* const> texts, std::vector<std::string_view>& missing);
    FoundMarker next_marker(std::string_view literal) const;
    bool is_special(const Segment& segment) const;
    std::vector<Segment> pieces_of(std::string_view text, bool begins) const;
    std::vector<Segment> split(std::string_view text, bool begins) const;
    void check_contents(std::span<const ChatMessage> messages) const;

    const ChatTemplate& chat_;
    std::shared_ptr<const Tokenizer> tokenizer_;
    std::vector<std::int32_t> start_, ends_;
    std::vector<Marker> markers_;
    std::string_view carrier_;  // a marker that the tokenizer finds in texts, to split what follows one; may be empty
    std::vector<std::string_view> words_;  // of ChatTemplate::words, those that are text
};

}  // namespace headscope
