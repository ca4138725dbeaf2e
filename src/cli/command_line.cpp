#include "cli/command_line.h"

#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
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

}  // namespace headscope
