// Chat templates: the text and the ids that a causal language model reads of a conversation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace headscope {

enum class ChatRole : std::uint8_t { System, User, Assistant };
const char* name_of(ChatRole role);  // "system"
// Error for a name that is none.
ChatRole chat_role(std::string_view name);

struct ChatMessage {
    ChatRole role = ChatRole::User;
    std::string content;

    bool operator==(const ChatMessage&) const = default;
};

// Where a template has the system's message.
enum class SystemPlace : std::uint8_t { OwnTurn, FirstUser, LastUser };

// What stands around the content of a role's messages.
struct ChatTurn {
    const char *begin = "", *end = "";
};

// A row of the table of templates. Its texts are those that the template's Jinja source makes.
struct ChatTemplate {
    const char* name;
    // Markers that must be pieces of the vocabulary. A message's own characters never become one of them.
    std::span<const char* const> pieces = {};
    // Markers that are pieces of some vocabularies and text in others. No message may have them.
    std::span<const char* const> words = {};
    ChatTurn system = {}, user = {}, reply = {};
    const char* begin = "";        // of a conversation
    bool begins_as_texts = false;  // it begins as the model's other texts do
    const char* reply_lead = "";   // before a reply's content; the model writes it
    const char* after_reply = "";  // after a reply's end, if another message follows
    const char* end = "";          // of a conversation, unless a reply is opened
    SystemPlace system_place = SystemPlace::OwnTurn;
    const char* system_lead = "";   // before the system's content; if there is some, every conversation has this turn
    const char* usual_system = "";  // the system's content if a conversation has none; may be empty
    bool trims = false;             // contents lose the white space around them
    bool thinks = false;            // the last reply begins with thoughts; earlier ones lose theirs
    // How the Jinja source is recognised: by texts that it has, and by others that it lacks.
    std::span<const char*const> signs = {}, other_signs = {};
};

std::span<const ChatTemplate> chat_templates();
// Error that lists the names there are.
const ChatTemplate& chat_template(std::string_view name);
// The template with this Jinja source; null if it is unknown.
const ChatTemplate* recognise_chat_template(std::string_view jinja);

// What follows the last message.
enum class ChatEnd : std::uint8_t {
    Closed,  // nothing
    Reply    // the beginning of a reply, which the model continues
};

// Error unless a message of the system, if there is one, is the first, and those of user and assistant alternate after
// it, from the user's; and unless a reply is opened after a user's message.
void check_messages(std::span<const ChatMessage> messages, ChatEnd end);

// The text of a conversation.
std::string chat_text(const ChatTemplate& chat, std::span<const ChatMessage> messages, ChatEnd end);

struct ChatIds {
    std::vector<std::int32_t> ids;
    // For each id, whether it is of a reply: of its content, or the end that the model must write after it. What a
    // template has before a reply and after its end is not.
    std::vector<bool> replied;
};

// A template with the pieces of a vocabulary. The ids of chat_text(), in which no message's content gives a special
// piece or a marker of the template: nobody's text opens or ends a turn. The ids of an opened reply begin those of the
// same conversation with that reply.
class ChatEncoder {
public:
    // `start`: the ids with which the model's texts begin (Frame::start_of_text). Error that names the markers that the
    // vocabulary lacks.
    ChatEncoder(const ChatTemplate& chat, std::shared_ptr<const Tokenizer> tokenizer, std::vector<std::int32_t> start);

    // Error for messages in a wrong order (check_messages), and for content that is not UTF-8 or has a marker that this
    // vocabulary splits.
    ChatIds encode(std::span<const ChatMessage> messages, ChatEnd end) const;
    // The pieces with which a reply ends: the last id of each reply is one of them.
    const std::vector<std::int32_t>& ends() const { return ends_; }
    const ChatTemplate& chat() const { return chat_; }

private:
    struct Marker {
        std::string_view text;
        std::int32_t id;
    };
    class Writer;

    const Marker* marker_at(std::string_view literal, std::size_t& at) const;
    void check_content(const ChatMessage& message) const;

    const ChatTemplate& chat_;
    std::shared_ptr<const Tokenizer> tokenizer_;
    std::vector<std::int32_t> start_, ends_;
    std::vector<Marker> markers_;
    std::vector<std::string_view> split_words_;  // of ChatTemplate::words, those without a piece
};

}  // namespace headscope
