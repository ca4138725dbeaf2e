#include "infer/conversation.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {

Conversation::Conversation(ChatEncoder encoder, const std::string& system, std::int64_t longest, std::int64_t reply)
    : encoder_(std::move(encoder)), longest_(longest), reply_(std::min(reply, longest / 2)) {
    if (!system.empty()) {
        messages_.push_back({ChatRole::System, system});
    }
}

std::vector<std::int32_t> Conversation::prompt_of(const std::vector<ChatMessage>& messages) const {
    return encoder_.encode(messages, ChatEnd::Reply).ids;
}

void Conversation::resume(std::span<const ChatMessage> said, int left_out) {
    messages_.insert(messages_.end(), said.begin(), said.end());
    left_out_ = left_out;
}

// The last token of a reply is not read.
std::vector<std::int32_t> Conversation::ask(std::string message) {
    std::vector<ChatMessage> messages = messages_;
    messages.push_back({ChatRole::User, std::move(message)});
    const auto first = std::ranges::find(messages, ChatRole::User, &ChatMessage::role) - messages.begin();
    std::vector<std::int32_t> ids = prompt_of(messages);
    int left_out = 0;
    for (; std::ssize(ids) + reply_ - 1 > longest_ && std::ssize(messages) - first > 1; ++left_out) {
        messages.erase(messages.begin() + first, messages.begin() + first + 2);
        ids = prompt_of(messages);
    }
    if (std::ssize(ids) > longest_) {
        throw Error(
            fmt::format("the message has {} tokens with those around it, but the model's context has {}: "
                        "shorten it",
                        ids.size(), longest_));
    }
    messages_ = std::move(messages);
    left_out_ += left_out;
    return ids;
}

void Conversation::take(std::string reply) {
    reply.resize(encoder_.usable(reply));
    messages_.push_back({ChatRole::Assistant, std::move(reply)});
}

void Conversation::withdraw() {
    messages_.pop_back();
}

TokenList reply_ends(TokenList ends, const ChatEncoder& encoder, const ModelConfig& config) {
    TokenList all = encoder.ends();
    if (ends.empty() && config.frame.eos_id >= 0) {
        ends = {config.frame.eos_id};
    }
    std::ranges::copy_if(ends, std::back_inserter(all),
                         [&](std::int32_t id) { return std::ranges::find(all, id) == all.end(); });
    return all;
}

}  // namespace headscope
