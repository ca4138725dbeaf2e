// What was said in a conversation before its last message, and how the model replies, as a part of what is shown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "text/chat_template.h"

namespace headscope::viewer {

// The last message is the text of the state that has this.
struct Conversed {
    std::string system = {};                // empty: no system message
    std::vector<ChatMessage> said = {};     // by the user and the model in turn, from the user to the model
    int left_out = 0;                       // the first exchanges of them, which the model no longer reads
    std::optional<std::string> reply = {};  // to the last message; empty: what the search writes
    bool sample = false;                    // replies are drawn at random, with the temperature
    double temperature = 1.0;
    bool operator==(const Conversed&) const = default;
};

constexpr double kLeastTemperature = 0.1;
constexpr double kMostTemperature = 2.0;

// What the model reads before the last message, from the system's.
std::vector<ChatMessage> read_of(const Conversed& conversation);

nlohmann::json to_json(const Conversed& conversation);
// Error that names the file and the key.
Conversed read_conversed(const nlohmann::json& object, const std::string& file);

}  // namespace headscope::viewer
