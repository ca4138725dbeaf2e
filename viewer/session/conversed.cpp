#include "viewer/session/conversed.h"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "io/config_reader.h"

namespace headscope::viewer {

namespace {

using nlohmann::json;

constexpr std::array<std::pair<const char*, ChatRole>, 2> kSpeakers{
    {{"user", ChatRole::User}, {"assistant", ChatRole::Assistant}}};

ChatMessage read_message(const json& object, const std::string& file) {
    ConfigReader reader(object, file, "view.conversation.said");
    ChatMessage message;
    message.role = reader.choice_of("role", kSpeakers, ChatRole::User);
    message.content = reader.text("content");
    reader.finish();
    return message;
}

}  // namespace

std::vector<ChatMessage> read_of(const Conversed& conversation) {
    std::vector<ChatMessage> messages;
    if (!conversation.system.empty()) {
        messages.push_back({ChatRole::System, conversation.system});
    }
    messages.insert(messages.end(), conversation.said.begin() + 2 * conversation.left_out, conversation.said.end());
    return messages;
}

json to_json(const Conversed& conversation) {
    json out{{"said", json::array()}, {"left_out", conversation.left_out}};
    for (const ChatMessage& message : conversation.said) {
        out["said"].push_back({{"role", name_of(message.role)}, {"content", message.content}});
    }
    if (!conversation.system.empty()) {
        out["system"] = conversation.system;
    }
    if (conversation.sample) {
        out["sample"] = true;
        out["temperature"] = conversation.temperature;
    }
    if (conversation.reply.has_value()) {
        out["reply"] = *conversation.reply;
    }
    return out;
}

Conversed read_conversed(const json& object, const std::string& file) {
    ConfigReader reader(object, file, "view.conversation");
    Conversed conversation;
    conversation.system = reader.text("system");
    for (const json& message : reader.list("said")) {
        conversation.said.push_back(read_message(message, file));
        const bool users = conversation.said.size() % 2 == 1;
        if (conversation.said.back().role != (users ? ChatRole::User : ChatRole::Assistant)) {
            reader.fail("said", "must hold messages of \"user\" and \"assistant\" in turn, from the user's");
        }
    }
    if (conversation.said.size() % 2 == 1) {
        reader.fail("said", "must end with a message of \"assistant\"");
    }
    conversation.left_out =
        static_cast<int>(reader.integer("left_out", 0, 0, static_cast<std::int64_t>(conversation.said.size()) / 2));
    conversation.sample = reader.boolean("sample", false);
    conversation.temperature =
        reader.number("temperature", conversation.temperature, kLeastTemperature, kMostTemperature);
    if (reader.has("reply")) {
        conversation.reply = reader.text("reply");
    }
    reader.finish();
    return conversation;
}

}  // namespace headscope::viewer
