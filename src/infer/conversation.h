// A conversation with a causal language model, as much of it as the model's context holds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "infer/search_options.h"
#include "text/chat_encoder.h"

namespace headscope {

class Conversation {
public:
    // `longest`: the model's context; `reply`: the tokens that a reply may have. An empty `system` is none.
    Conversation(ChatEncoder encoder, const std::string& system, std::int64_t longest, std::int64_t reply);

    // What was said before, by the user and the model in turn, after the exchanges that are left out already.
    void resume(std::span<const ChatMessage> said, int left_out);
    // The prompt of the reply to the user's next message. The oldest exchanges are left out for good if they leave too
    // little room for it; the system message stays. Error if the message does not fit even so, or has text that the
    // template refuses; the conversation is as before then.
    std::vector<std::int32_t> ask(std::string message);
    // The reply to it, as much as was written. What the template refuses in a message, such as the beginning of another
    // turn, and all behind it is forgotten.
    void take(std::string reply);
    // The message gets no reply: it is forgotten.
    void withdraw();

    // How many exchanges were left out so far.
    int left_out() const { return left_out_; }
    const std::vector<ChatMessage>& messages() const { return messages_; }

private:
    std::vector<std::int32_t> prompt_of(const std::vector<ChatMessage>& messages) const;

    ChatEncoder encoder_;
    std::int64_t longest_, reply_;
    std::vector<ChatMessage> messages_;
    int left_out_ = 0;
};

// SearchOptions::ends of replies: those of the template, then the model's other ones.
TokenList reply_ends(TokenList ends, const ChatEncoder& encoder, const ModelConfig& config);

}  // namespace headscope
