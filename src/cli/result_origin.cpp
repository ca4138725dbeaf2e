#include "cli/result_origin.h"

#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "options/version.h"
#include "support/shell_quoted.h"
#include "support/utf8.h"

namespace headscope {

namespace {

// Quotes a word for a shell; invalid UTF-8, which JSON cannot contain, is written as \x escapes.
std::string quoted(const std::string& word) {
    constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,.:/@%";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
        return word;
    }
    if (first_invalid_utf8(word)) {
        std::string text = "$'";
        for (const char letter : word) {
            const bool plain = std::string(kPlain).find(letter) != std::string::npos || letter == ' ';
            text += plain ? std::string(1, letter) : fmt::format("\\x{:02x}", static_cast<unsigned char>(letter));
        }
        return text + "'";
    }
    return shell_quoted(word);
}

}  // namespace

ResultOrigin result_origin(int count, const char* const* words) {
    std::string command = "headscope";  // without its directory
    for (int i = 1; i < count; ++i) {
        command += " " + quoted(words[i]);
    }
    return {.version = program_version(),
            .commit = program_commit(),
            .date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))),
            .command = command};
}

nlohmann::ordered_json to_json(const ResultOrigin& origin) {
    return {
        {"headscope", origin.version}, {"commit", origin.commit}, {"date", origin.date}, {"command", origin.command}};
}

nlohmann::ordered_json to_json(const ResultOrigin& origin, const std::string& what) {
    nlohmann::ordered_json json{{"bench", what}};
    json.update(to_json(origin));
    return json;
}

nlohmann::ordered_json to_json(const DeviceInfo& device) {
    return {{"id", device.id}, {"name", device.name}, {"driver", device.driver}, {"software", device.software}};
}

}  // namespace headscope
