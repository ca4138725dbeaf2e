// A conversation with a causal language model that an engine has open: headscope chat, and the window's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "infer/conversation.h"
#include "infer/decoding_choices.h"
#include "infer/hypotheses.h"

namespace headscope {

struct TalkOptions {
    std::string system = {};                                                   // empty: no system message
    std::string chat_template = {};                                            // its name; empty: the model's own
    DecodingChoices choices = {};                                              // over the model's
    std::function<void(const std::string&)> note = [](const std::string&) {};  // what the user has to know
};

class Talk {
public:
    static constexpr std::int64_t kMostTokens = 512;  // of a reply, unless the choices have another number

    // Error for a model without a chat template, and for choices that mean nothing to the model.
    Talk(Engine& engine, ModelHandle model, TalkOptions options);

    // What was said before, as for Conversation. The next turn has the number that follows.
    void resume(std::span<const ChatMessage> said, int left_out);

    struct Reply {
        std::string text;              // without white space before it
        std::optional<EndReason> end;  // empty: it was stopped
        std::size_t prompt_tokens = 0, tokens = 0;
    };
    // Gets the reply so far, again and again; false stops it. A beam search may take back what it wrote.
    using Progress = std::function<bool(std::string_view so_far)>;
    // Notes once that exchanges are left out. After an Error the conversation is as before.
    Reply answer(const std::string& message, const Progress& progress);

    const Conversation& conversation() const { return conversation_; }
    const DecodingOptions& decoding() const { return decoding_; }
    std::uint32_t turn() const { return turn_; }  // of the last reply, from 1: the key of its random numbers

private:
    Talk(Engine& engine, ModelHandle model, TalkOptions options, ChatEncoder encoder);
    Reply reply_to(const std::vector<std::int32_t>& prompt, const Progress& progress);
    void note_on_trimming();

    Engine& engine_;
    const ModelHandle model_;
    const TalkOptions options_;
    const DecodingOptions decoding_;
    Conversation conversation_;
    std::uint32_t turn_ = 0;
    bool noted_ = false;  // that exchanges are left out
};

}  // namespace headscope
