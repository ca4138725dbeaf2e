#include "options/decoding_flags.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "options/option_values.h"
#include "support/check.h"

namespace headscope {

namespace {

void take(const DecodingKey& key, const std::string& text, DecodingChoices& choices) {
    key.read(key, {json_of_text(key, text), text.empty() ? "nothing" : text, nullptr}, choices);
}

CLI::Validator validator(const DecodingKey& key) {
    const auto check = [&key](const std::string& text) -> std::string {
        try {
            DecodingChoices choices;
            take(key, text, choices);
            return text.empty() ? "must not be empty" : "";
        } catch (const Error& problem) {
            return problem.what();
        }
    };
    const bool ranged = key.type == "integer" || key.type == "number";
    return {check, ranged ? key.values() : ""};
}

}  // namespace

CLI::Option* add_decoding_flag(CLI::App& command, DecodingChoices& choices, const DecodingKey& key, unsigned writers) {
    const std::string flag = key.flag(writers);
    const std::string help = key.help;
    if (key.type == "boolean") {
        return command.add_flag_callback(
            flag, [&key, &choices] { take(key, "true", choices); }, help);
    }
    if (key.type == "list") {
        return command
            .add_option_function<std::vector<std::string>>(
                flag,
                [&key, &choices](const std::vector<std::string>& texts) {
                    key.read(key, {texts, "", nullptr}, choices);
                },
                help)
            ->allow_extra_args(false)
            ->check(not_empty);
    }
    CLI::Option* option = command.add_option_function<std::string>(
        flag, [&key, &choices](const std::string& text) { take(key, text, choices); }, help);
    option->check(validator(key))->default_str(key.default_for(writers));
    return key.names.empty() ? option->type_name(key.type == "text" ? "TEXT" : "N")
                             : option->type_name(fmt::format("TEXT:{{{}}}", fmt::join(key.names, ",")));
}

void add_decoding_flags(CLI::App& command, DecodingChoices& choices, std::initializer_list<const char*> keys,
                        unsigned writers) {
    for (const char* key : keys) {
        add_decoding_flag(command, choices, decoding_key(key), writers);
    }
}

void add_decoding_flags(CLI::App& command, DecodingChoices& choices, unsigned writers, bool of_requests) {
    for (const DecodingKey& key : decoding_keys()) {
        if (key.has_flag && (key.writers & writers) != 0 && (key.of_model || of_requests)) {
            add_decoding_flag(command, choices, key, writers);
        }
    }
}

}  // namespace headscope
