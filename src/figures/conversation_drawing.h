// Draws a conversation with a language model: who said what, from top to bottom.
#pragma once

#include <span>
#include <string>

#include "paint/sketch.h"
#include "text/chat_template.h"

namespace headscope {

struct ConversationOptions {
    std::string model = "Model";  // who replies
    int left_out = 0;             // the first exchanges, which the model no longer reads
    bool growing = false;         // the last message is a reply that is being written
    double width = 60.0;          // in units of the text size
    Look look = {};
};

// The user's messages stand to the right, on a ground. Marks have the number of the message as their item.
Drawing draw_conversation(std::span<const ChatMessage> messages, const ConversationOptions& options);

}  // namespace headscope
