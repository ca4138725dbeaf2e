// A conversation with a causal language model. The other panels show the heads of what was said.
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "figures/conversation_drawing.h"
#include "viewer/panels/controls.h"
#include "viewer/panels/parts.h"
#include "viewer/session/fits.h"
#include "viewer/session/shown.h"

namespace headscope::viewer {

namespace {

// What was said, from the system's message.
std::vector<ChatMessage> messages_of(const Scene& scene) {
    std::vector<ChatMessage> messages = said_in(scene);
    if (const std::string& system = scene.state.conversation.system; !messages.empty() && !system.empty()) {
        messages.insert(messages.begin(), {ChatRole::System, system});
    }
    return messages;
}

std::string missing_chat(const Scene& scene) {
    const std::string why = scene.main.model.has_value() ? no_chat(scene) : nothing_there(scene.main);
    return why.empty() && messages_of(scene).empty() ? "Nothing was said yet: write a message below." : why;
}

Drawing draw_chat(const Scene& scene, const PanelOptions& options, RecordParts& /*parts*/) {
    return draw_conversation(messages_of(scene), {.model = scene.main.model->name,
                                                  .left_out = scene.state.conversation.left_out,
                                                  .growing = scene.growing_reply != nullptr,
                                                  .width = options.width / options.text_size - 2.0,
                                                  .look = look_of(options)});
}

nlohmann::json chat_numbers(const Scene& scene) {
    nlohmann::json messages = nlohmann::json::array();
    for (const ChatMessage& message : messages_of(scene)) {
        messages.push_back({{"role", name_of(message.role)}, {"content", message.content}});
    }
    return {{"model", scene.main.model->name}, {"messages", messages}, {"left_out", scene.state.conversation.left_out}};
}

// How the next replies are written.
void reply_controls(Controls& ui) {
    Conversed& conversation = ui.state().conversation;
    ui.heading("System message");
    ui.edit("system", "none", conversation.system);
    ui.heading("Replies");
    ui.toggle("chat.sample", "drawn at random", conversation.sample,
              "Each piece by its probability, not the likeliest one");
    if (conversation.sample &&
        ui.slider("chat.temperature", conversation.temperature, kLeastTemperature, kMostTemperature,
                  fmt::format("temperature {:.1f}", conversation.temperature))) {
        conversation.temperature = std::round(conversation.temperature * 10.0) / 10.0;
    }
}

void chat_controls(Controls& ui) {
    const bool can = no_chat(ui.scene()).empty();
    if (can) {
        reply_controls(ui);
    }
    ui.heading("Conversation");
    if (ui.button("chat.new", "New conversation", "", can)) {
        ui.run("chat.new");
    }
    if (ui.button("chat.copy", "Copy the last reply", "", can && last_reply_in(ui.scene()).has_value())) {
        ui.run("chat.copy");
    }
    ui.remark(
        "A conversation with the open model, which the other panels read: Figure, All heads and the rest show the "
        "heads of the last message, its reply and all before. A reply is as headscope chat writes it.");
}

void chat_below(Controls& ui) {
    const bool replying = ui.session.replying();
    const Controls::Entry entry =
        ui.entry("message", "Write a message", replying ? "Stop" : "Send", replying || no_chat(ui.scene()).empty());
    if (replying && entry.pressed) {
        ui.session.stop_reply();
    } else if (!replying && (entry.pressed || entry.entered)) {
        ui.session.say(entry.text);
        entry.text.clear();
    }
    if (const std::optional<std::string> unsaid = ui.session.take_unsaid(); unsaid.has_value()) {
        entry.text = *unsaid;
    }
}

// The rest of a conversation is not drawn.
void forget_all_but_messages(const Scene& /*scene*/, ViewState& state) {
    state = {.text = state.text,
             .target = state.target,
             .chat = state.chat,
             .conversation = state.conversation,
             .panel = state.panel};
}

}  // namespace

const Panel kChatPanel{.id = PanelId::Chat,
                       .title = "Chat",
                       .keys = "Ctrl+K",
                       .unfit = no_replies,
                       .missing = missing_chat,
                       .draw = draw_chat,
                       .numbers = chat_numbers,
                       .forget_unseen = forget_all_but_messages,
                       .follows_pointer = false,
                       .pointable = {},
                       .fit_height = false,
                       .follows_end = true,
                       .controls = chat_controls,
                       .below = chat_below};

}  // namespace headscope::viewer
