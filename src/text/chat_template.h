// Chat templates: the text that a causal language model reads of a conversation. text/chat_encoder.h has the ids.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {

enum class ChatRole : std::uint8_t { System, User, Assistant };
const char* name_of(ChatRole role);  // "system"

struct ChatMessage {
    ChatRole role = ChatRole::User;
    std::string content;

    bool operator==(const ChatMessage&) const = default;
};

// What follows the last message.
enum class ChatEnd : std::uint8_t {
    Closed,  // nothing
    Reply    // the beginning of a reply, which the model continues
};

// Where a template has the system message.
enum class SystemPlace : std::uint8_t { OwnTurn, FirstUser, LastUser };

// Whose contents lose the white space around them.
enum class ChatTrim : std::uint8_t { None, Replies, All };

// What stands around the content of a role's messages.
struct ChatTurn {
    const char* begin = "";
    const char* end = "";
};

// A row of the table of templates. Its texts are those that the template's Jinja source makes.
struct ChatTemplate {
    const char* name;
    // Markers that must be pieces of the vocabulary.
    std::span<const char* const> pieces = {};
    // Markers that are pieces of some vocabularies and text in others, where no message may have them.
    std::span<const char* const> words = {};
    const char* begin = "";        // of a conversation
    bool begins_as_texts = false;  // a conversation begins as the model's other texts do
    ChatTurn system = {}, user = {}, reply = {};
    SystemPlace system_place = SystemPlace::OwnTurn;
    const char* system_lead = "";   // before the system's content; with one, every conversation has the system's turn
    const char* usual_system = "";  // the system's content where a conversation has none
    const char* reply_lead = "";    // before a reply's content; the model writes it
    const char* after_reply = "";   // after the end of a reply
    bool after_last = true;         // whether that follows the last message, too
    const char* end = "";           // of a conversation, unless a reply is opened
    ChatTrim trim = ChatTrim::None;
    bool thinks = false;  // the last message, if it is a reply, begins with thoughts; earlier replies lose theirs
    // How the Jinja source is recognised: by texts that it has, and by others that it lacks.
    std::span<const char*const> signs = {}, other_signs = {};
};

std::vector<std::string> chat_template_names();
// Error that lists the names there are.
const ChatTemplate& chat_template(std::string_view name);
// The template with this Jinja source; null if it is unknown.
const ChatTemplate* recognise_chat_template(std::string_view jinja);

// Error unless the only message of the system, if there is one, comes first, and those of user and assistant alternate
// after it, from the user's to the user's before an opened reply.
void check_messages(std::span<const ChatMessage> messages, ChatEnd end);

// A part of a conversation's text.
struct ChatPart {
    std::string text;
    bool literal = false;  // the template's own, in which markers count
    bool replied = false;  // what the model writes: a reply's content and what ends it
};
// Error for messages in a wrong order.
std::vector<ChatPart> chat_parts(const ChatTemplate& chat, std::span<const ChatMessage> messages, ChatEnd end);
// The whole text: what the Jinja source makes.
std::string chat_text(const ChatTemplate& chat, std::span<const ChatMessage> messages, ChatEnd end);

}  // namespace headscope
