#include "options/command_line.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "io/missing_file.h"
#include "support/counted.h"
#include "support/edit_distance.h"
#include "support/shell_quoted.h"

namespace headscope {

namespace {

// The option that a CLI11 message is about: it begins with the option, "--beam: 1 required INT missing", or with a
// flag's bare name.
const CLI::Option* option_of(const std::string& message, const CLI::App& command) {
    const std::string name = message.substr(0, message.find_first_of(": "));
    const CLI::Option* option = command.get_option_no_throw(name);
    return option == nullptr ? command.get_option_no_throw("--" + name) : option;
}

// "--beam: expected a value, found none"
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

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
}

// Advice for an unknown word: the closest of `names`, or --help.
std::string advice(const CLI::App& app, const std::string& word, const std::vector<std::string>& names) {
    const std::string guess = nearest(word, names);
    return guess.empty() ? full_name(app) + " --help lists them" : fmt::format("did you mean \"{}\"?", guess);
}

std::string unknown_command(const CLI::App& app, const std::string& word) {
    std::vector<std::string> names;
    for (const CLI::App* command : commands_of(app)) {
        names.push_back(command->get_name());
    }
    return fmt::format("{} has no command \"{}\"; {}", full_name(app), word, advice(app, word, names));
}

std::vector<std::string> options_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* known : app.get_options()) {
        for (const std::string& name : known->get_lnames()) {
            names.push_back("--" + name);
        }
        for (const std::string& letter : known->get_snames()) {
            names.push_back("-" + letter);
        }
    }
    return names;
}

// The message for an unexpected word.
std::string unexpected_word(const CLI::App& app, const std::string& word) {
    if (!word.starts_with('-')) {
        return fmt::format("{}: unexpected argument \"{}\"; {} --help lists what it takes", full_name(app), word,
                           full_name(app));
    }
    const std::string option = word.substr(0, word.find('='));
    const std::vector<std::string> names = options_of(app);
    if (std::find(names.begin(), names.end(), option) != names.end()) {  // parsed as an option of a parent command
        return fmt::format("\"{}\" belongs after the command: {} {} ...", option, full_name(app), word);
    }
    return fmt::format("{} has no option \"{}\"; {}", full_name(app), option, advice(app, option, names));
}

// How to give the word as a text instead: a command line; empty where the word is not the file of a text.
std::string as_text(const std::string& word, const CLI::App& command) {
    constexpr std::array kTexts = {"--file",   "--text",       "--tsv",       "--source",
                                   "--target", "--hypotheses", "--reference", "--corpus"};
    for (const CLI::Option* option : command.get_options()) {
        const std::vector<std::string>& given = option->results();
        if (std::find(given.begin(), given.end(), word) == given.end()) {
            continue;
        }
        if (option->get_positional()) {
            const bool takes_text = command.get_option_no_throw("--text") != nullptr;
            return takes_text ? fmt::format("{} --text {}", full_name(command), shell_quoted(word))
                              : fmt::format("echo {} | {}", shell_quoted(word), full_name(command));
        }
        if (std::find(kTexts.begin(), kTexts.end(), option->get_name()) != kTexts.end()) {
            return fmt::format("echo {} | {} {} -", shell_quoted(word), full_name(command), option->get_name());
        }
    }
    return "";
}

}  // namespace

std::string full_name(const CLI::App& command) {
    return command.get_parent() == nullptr ? command.get_name()
                                           : full_name(*command.get_parent()) + " " + command.get_name();
}

const CLI::App& innermost(const CLI::App& app) {
    const CLI::App* at = &app;
    while (!at->get_subcommands().empty()) {
        at = at->get_subcommands().front();
    }
    return *at;
}

std::string unexpected_words(const CLI::App& app) {
    const std::vector<std::string> extra = app.remaining(true);
    if (extra.empty()) {
        return "";
    }
    const CLI::App& at = innermost(app);
    const bool command = !commands_of(at).empty() && !extra.front().starts_with('-');
    return command ? unknown_command(at, extra.front()) : unexpected_word(at, extra.front());
}

std::string usage_problem(const CLI::App& app, const CLI::ParseError& error) {
    if (std::string problem = unexpected_words(app); !problem.empty()) {
        return problem;
    }
    const CLI::App& at = innermost(app);
    return commands_of(at).empty() ? fmt::format("{}; {} --help explains it", error_message(error, at), full_name(at))
                                   : fmt::format("a command is required; {} --help lists the commands", full_name(at));
}

std::string missing_file(const MissingFile& error, const CLI::App& app) {
    const std::string& path = error.path();
    const bool is_text = path.find(' ') != std::string::npos || path.find_first_of("./") == std::string::npos;
    const std::string command = is_text ? as_text(path, innermost(app)) : "";
    return command.empty() ? error.what()
                           : fmt::format("there is no file '{}'; to give a text instead: {}", path, command);
}

}  // namespace headscope
