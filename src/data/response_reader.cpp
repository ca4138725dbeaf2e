#include "data/response_reader.h"

#include <set>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/config_reader.h"
#include "io/strict_json.h"
#include "support/check.h"
#include "text/normalised.h"

namespace headscope {
namespace {

using nlohmann::json;

// In the order of ChatRole.
const std::vector<std::string> kRoles{name_of(ChatRole::System), name_of(ChatRole::User), name_of(ChatRole::Assistant)};

class LineParser {
public:
    LineParser(const json& line, std::string place) : place_(std::move(place)), reader_(line, place_, "") {}

    Responses written() {
        Responses responses;
        if (reader_.has("messages")) {
            responses.prompt = messages("messages", ChatEnd::Closed);
            responses.whole = true;
        } else {
            read_prompt(responses);
            add(responses, reader_.child("response"), "response", 1);
        }
        reader_.finish();
        return responses;
    }

    Responses prompt() {
        Responses responses;
        read_prompt(responses);
        reader_.finish();
        return responses;
    }

    Responses ranked() {
        Responses responses;
        read_prompt(responses);
        if (reader_.has("chosen")) {
            add(responses, reader_.child("chosen"), "chosen", 1);
            add(responses, reader_.child("rejected"), "rejected", 2);
        } else {
            std::int32_t rank = 0;
            for (const json& entry : list("ranked")) {
                if (entry.is_array() && entry.empty()) {
                    reader_.fail("ranked", "has an empty list: leave it out, or give it responses of one rank");
                }
                ++rank;
                for (const json& text : entry.is_array() ? entry : json::array({entry})) {
                    add(responses, text, "ranked", rank);
                }
            }
        }
        reader_.finish();
        check_ranks(responses);
        return responses;
    }

private:
    [[noreturn]] void fail(const std::string& problem) const { throw Error(fmt::format("{}: {}", place_, problem)); }

    const json& list(const char* key) {
        const json& value = reader_.child(key);
        if (!value.is_array()) {
            reader_.fail(key, fmt::format("must be a list, found {}", value.dump()));
        }
        return value;
    }

    std::string text_of(const json& value, const std::string& key) {
        if (!value.is_string()) {
            reader_.fail(key, fmt::format("must be text, found {}", value.dump()));
        }
        std::string text = value.get<std::string>();
        if (is_empty_text(text)) {
            reader_.fail(key, "is empty: leave the line out, or write a text");
        }
        return text;
    }

    void read_prompt(Responses& responses) {
        const json& prompt = reader_.child("prompt");
        responses.plain = prompt.is_string();
        responses.prompt = responses.plain ? std::vector<ChatMessage>{{ChatRole::User, text_of(prompt, "prompt")}}
                                           : messages("prompt", ChatEnd::Reply);
    }

    // They end with one of the user, which is to be replied to, or else with a reply.
    std::vector<ChatMessage> messages(const char* key, ChatEnd end) {
        std::vector<ChatMessage> messages;
        for (const json& one : list(key)) {
            const std::string name = fmt::format("{}[{}]", key, messages.size());
            ConfigReader message(one, place_, name);
            static_cast<void>(message.child("role"));
            const auto role = static_cast<ChatRole>(message.choice("role", 0, kRoles));
            messages.push_back({role, text_of(message.child("content"), name + ".content")});
            message.finish();
        }
        try {
            check_messages(messages, end);
        } catch (const Error& error) {
            fail(fmt::format("\"{}\": {}", key, error.what()));
        }
        if (end == ChatEnd::Closed && (messages.empty() || messages.back().role != ChatRole::Assistant)) {
            reader_.fail(key, "must end with a message of the assistant");
        }
        return messages;
    }

    void add(Responses& responses, const json& value, const char* key, std::int32_t rank) {
        responses.texts.push_back(text_of(value, key));
        responses.ranks.push_back(rank);
    }

    void check_ranks(const Responses& responses) const {
        if (responses.texts.size() < 2) {
            fail("a ranking of one response says nothing: give two at least");
        }
        std::set<std::string> seen;
        for (const std::string& text : responses.texts) {
            if (!seen.insert(text).second) {
                fail(fmt::format("a response is ranked twice: {}", json(text).dump()));
            }
        }
    }

    std::string place_;
    ConfigReader reader_;
};

}  // namespace

ResponseForm form_of(Task task) {
    return traits(task).rolls_out  ? ResponseForm::Prompt
           : traits(task).compares ? ResponseForm::Ranked
                                   : ResponseForm::Written;
}

Responses parse_responses(const std::string& line, const std::string& place, ResponseForm form) {
    std::istringstream stream(line);
    const json parsed = parse_json(stream, place);
    if (!parsed.is_object()) {
        throw Error(fmt::format("{}: a line must be an object {{...}}, found {}", place, parsed.type_name()));
    }
    LineParser parser(parsed, place);
    const bool has_ranks = parsed.contains("ranked") || parsed.contains("chosen");
    switch (form) {
        case ResponseForm::Written: return parser.written();
        case ResponseForm::Ranked: return parser.ranked();
        case ResponseForm::Any: return has_ranks ? parser.ranked() : parser.written();
        case ResponseForm::Prompt: return parser.prompt();
        case ResponseForm::Offered: return has_ranks ? parser.ranked() : parser.prompt();
    }
    return {};
}

std::string prompt_key(const Responses& responses) {
    if (responses.plain) {
        return responses.prompt.front().content;
    }
    std::string key;
    for (const ChatMessage& message : responses.prompt) {
        key += fmt::format("{}{}: {}", key.empty() ? "" : "\n", name_of(message.role), message.content);
    }
    return key;
}

std::string ranked_line(const Responses& responses, const std::vector<std::vector<std::size_t>>& groups) {
    nlohmann::ordered_json line;
    if (responses.plain) {
        line["prompt"] = responses.prompt.front().content;
    } else {
        for (const ChatMessage& message : responses.prompt) {
            line["prompt"].push_back({{"role", name_of(message.role)}, {"content", message.content}});
        }
    }
    nlohmann::ordered_json& ranked = line["ranked"] = nlohmann::ordered_json::array();
    for (const std::vector<std::size_t>& group : groups) {
        nlohmann::ordered_json texts = nlohmann::ordered_json::array();
        for (const std::size_t text : group) {
            texts.push_back(responses.texts[text]);
        }
        ranked.push_back(group.size() == 1 ? texts.front() : texts);
    }
    return line.dump();
}

std::string ResponseReader::place() const {
    return fmt::format("{} line {}", lines_.name(), lines_.number());
}

bool ResponseReader::next(Responses& responses) {
    if (!lines_.next(line_)) {
        return false;
    }
    responses = parse_responses(line_, place(), form_);
    return true;
}

}  // namespace headscope
