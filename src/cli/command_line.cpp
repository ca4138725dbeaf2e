#include "cli/command_line.h"

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "io/missing_file.h"
#include "support/counted.h"

namespace headscope {

namespace {

// The option that a CLI11 message is about: it begins with the option, "--beam: 1 required INT missing", or with a
// flag's bare name.
const CLI::Option* option_of(const std::string& message, const CLI::App& command) {
    const std::string name = message.substr(0, message.find_first_of(": "));
    const CLI::Option* option = command.get_option_no_throw(name);
    return option == nullptr ? command.get_option_no_throw("--" + name) : option;
}

}  // namespace

void write_help_or_version(const CLI::App& app, const CLI::ParseError& request) {
    std::ostringstream text;
    app.exit(request, text, text);
    write_output(text.str());
}

std::string error_message(const CLI::ParseError& error, const CLI::App& command) {
    std::string message = error.what();
    const CLI::Option* option = error.get_name() == "ArgumentMismatch" ? option_of(message, command) : nullptr;
    if (option == nullptr) {
        return message;
    }
    const int most = option->get_items_expected_max();
    const auto found = static_cast<int>(option->count());
    if (most == 0) {
        return option->get_name() + " takes no value";
    }
    return found > most ? fmt::format("{}: expected {}, found {}: give it once", option->get_name(),
                                      counted(most, "value"), found)
                        : fmt::format("{}: expected a value, found none", option->get_name());
}

std::string full_name(const CLI::App& command) {
    return command.get_parent() == nullptr ? command.get_name()
                                           : full_name(*command.get_parent()) + " " + command.get_name();
}

namespace {

// For a shell: 'it'\''s'.
std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char letter : text) {
        result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    }
    return result + "'";
}

// Where the word stands as the file of a text: "" for a command's own argument, " --text -" for an option. Null if it
// stands elsewhere.
std::optional<std::string> place_of(const std::string& word, const CLI::App& command) {
    constexpr std::array kTexts = {"--file",   "--text",       "--tsv",       "--source",
                                   "--target", "--hypotheses", "--reference", "--corpus"};
    for (const CLI::Option* option : command.get_options()) {
        const std::vector<std::string>& given = option->results();
        if (std::find(given.begin(), given.end(), word) == given.end()) {
            continue;
        }
        if (option->get_positional()) {
            return "";
        }
        if (std::find(kTexts.begin(), kTexts.end(), option->get_name()) != kTexts.end()) {
            return fmt::format(" {} -", option->get_name());
        }
    }
    return std::nullopt;
}

}  // namespace

std::string missing_file(const MissingFile& error, const CLI::App& command) {
    const std::string& path = error.path();
    const std::optional<std::string> place = place_of(path, command);
    const bool is_text = path.find(' ') != std::string::npos || path.find_first_of("./") == std::string::npos;
    return place && is_text ? fmt::format("there is no file '{}'; to give a text instead: echo {} | {}{}", path,
                                          quoted(path), full_name(command), *place)
                            : error.what();
}

}  // namespace headscope
