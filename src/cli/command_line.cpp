#include "cli/command_line.h"

#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "support/counted.h"

namespace headscope {

namespace {

// Its words begin with the option, "--beam: 1 required INT missing", and a flag's with the name alone.
const CLI::Option* option_of(const std::string& words, const CLI::App& command) {
    const std::string name = words.substr(0, words.find_first_of(": "));
    const CLI::Option* option = command.get_option_no_throw(name);
    return option == nullptr ? command.get_option_no_throw("--" + name) : option;
}

}  // namespace

void write_asked(const CLI::App& app, const CLI::ParseError& asked) {
    std::ostringstream text;
    app.exit(asked, text, text);
    write_output(text.str());
}

std::string in_words(const CLI::ParseError& error, const CLI::App& command) {
    std::string words = error.what();
    const CLI::Option* option = error.get_name() == "ArgumentMismatch" ? option_of(words, command) : nullptr;
    if (option == nullptr) {
        return words;
    }
    const int most = option->get_items_expected_max();
    const auto found = static_cast<int>(option->count());
    if (most == 0) {
        return option->get_name() + " takes no value: give it alone, or leave it out";
    }
    return found > most ? fmt::format("{}: expected {}, found {}: give it once", option->get_name(),
                                      counted(most, "value"), found)
                        : fmt::format("{}: expected a value, found none", option->get_name());
}

}  // namespace headscope
