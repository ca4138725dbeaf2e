#include "text/chat_template.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "support/check.h"
#include "support/utf8.h"
#include "text/white_space.h"

namespace headscope {

namespace {

constexpr std::array kRoles{"system", "user", "assistant"};

std::string_view trimmed(std::string_view text) {
    std::optional<std::size_t> begin;
    std::size_t end = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t first = at;
        if (!is_white_space(next_character(text, at))) {
            begin = begin.value_or(first);
            end = at;
        }
    }
    return begin ? text.substr(*begin, end - *begin) : std::string_view();
}

std::string_view without_breaks(std::string_view text, bool at_end) {
    text.remove_prefix(std::min(text.find_first_not_of('\n'), text.size()));
    return at_end ? text.substr(0, text.find_last_not_of('\n') + 1) : text;
}

// The thoughts of a reply, up to its first </think>, and its answer, behind the last one.
std::pair<std::string_view, std::string_view> thought_and_answer(std::string_view reply) {
    constexpr std::string_view kBegin = "<think>";
    constexpr std::string_view kEnd = "</think>";
    const std::size_t first = reply.find(kEnd);
    if (first == std::string_view::npos) {
        return {"", reply};
    }
    std::string_view thought = reply.substr(0, first);
    const std::size_t begin = thought.rfind(kBegin);
    thought.remove_prefix(begin == std::string_view::npos ? 0 : begin + kBegin.size());
    return {without_breaks(thought, true), without_breaks(reply.substr(reply.rfind(kEnd) + kEnd.size()), false)};
}

class PartsOfChat {
public:
    PartsOfChat(const ChatTemplate& chat, std::span<const ChatMessage> messages, ChatEnd end)
        : chat_(chat), messages_(messages), end_(end) {}

    std::vector<ChatPart> parts() && {
        literal(chat_.begin);
        const std::size_t first = has_system() ? 1 : 0;
        if (chat_.system_place == SystemPlace::OwnTurn && (shows_system() || *chat_.system_lead != '\0')) {
            add_system();
        }
        for (std::size_t i = first; i < messages_.size(); ++i) {
            messages_[i].role == ChatRole::User ? add_user(i, first) : add_reply(i);
        }
        literal(end_ == ChatEnd::Reply ? chat_.reply.begin : chat_.end);
        return std::move(parts_);
    }

private:
    bool has_system() const { return !messages_.empty() && messages_.front().role == ChatRole::System; }
    bool shows_system() const { return has_system() || *chat_.usual_system != '\0'; }

    void add_system() {
        literal(chat_.system.begin);
        literal(chat_.system_lead);
        content(has_system() ? messages_.front().content : chat_.usual_system,
                chat_.trim == ChatTrim::All && stands_alone());
        literal(chat_.system.end);
    }
    bool stands_alone() const { return chat_.system_place == SystemPlace::OwnTurn; }

    void add_user(std::size_t at, std::size_t first) {
        literal(chat_.user.begin);
        const std::size_t last = messages_.size() - (messages_.back().role == ChatRole::User ? 1 : 2);
        const std::size_t place = chat_.system_place == SystemPlace::FirstUser ? first : last;
        if (!stands_alone() && at == place && shows_system()) {
            add_system();
        }
        content(messages_[at].content, chat_.trim == ChatTrim::All);
        literal(chat_.user.end);
    }

    void add_reply(std::size_t at) {
        const bool is_last = at + 1 == messages_.size();
        literal(chat_.reply.begin);
        literal(chat_.reply_lead, true);
        if (!chat_.thinks) {
            content(messages_[at].content, chat_.trim != ChatTrim::None, true);
        } else {
            add_thought_and_answer(messages_[at].content, is_last);
        }
        literal(chat_.reply.end, true);
        literal(!is_last || chat_.after_last ? chat_.after_reply : "");
    }

    void add_thought_and_answer(std::string_view reply, bool is_last) {
        const auto [thought, answer] = thought_and_answer(reply);
        if (is_last) {
            literal("<think>\n", true);
            content(thought, false, true);
            literal("\n</think>\n\n", true);
        }
        content(is_last ? without_breaks(answer, false) : answer, false, true);
    }

    void literal(const char* text, bool replied = false) {
        if (*text != '\0') {
            parts_.push_back({text, true, replied});
        }
    }
    void content(std::string_view text, bool trims, bool replied = false) {
        parts_.push_back({std::string(trims ? trimmed(text) : text), false, replied});
    }

    const ChatTemplate& chat_;
    std::span<const ChatMessage> messages_;
    ChatEnd end_;
    std::vector<ChatPart> parts_;
};

}  // namespace

const char* name_of(ChatRole role) {
    return kRoles[static_cast<std::size_t>(role)];
}

void check_messages(std::span<const ChatMessage> messages, ChatEnd end) {
    ChatRole next = ChatRole::User;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const ChatRole role = messages[i].role;
        if (i == 0 && role == ChatRole::System) {
            continue;
        }
        if (role != next) {
            throw Error(
                fmt::format("message {} is of the {}, but must be of the {}: a system message comes first, "
                            "then user and assistant alternate",
                            i + 1, name_of(role), name_of(next)));
        }
        next = next == ChatRole::User ? ChatRole::Assistant : ChatRole::User;
    }
    const ChatRole last = messages.empty() ? ChatRole::System : messages.back().role;
    if (last == ChatRole::System || (end == ChatEnd::Reply && last != ChatRole::User)) {
        throw Error("a conversation needs a message of the user" +
                    std::string(last == ChatRole::System ? "" : " at its end, to which the model replies"));
    }
}

std::vector<ChatPart> chat_parts(const ChatTemplate& chat, std::span<const ChatMessage> messages, ChatEnd end) {
    check_messages(messages, end);
    return PartsOfChat(chat, messages, end).parts();
}

std::string chat_text(const ChatTemplate& chat, std::span<const ChatMessage> messages, ChatEnd end) {
    std::string text;
    for (const ChatPart& part : chat_parts(chat, messages, end)) {
        text += part.text;
    }
    return text;
}

}  // namespace headscope
