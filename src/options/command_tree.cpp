#include "options/command_tree.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "options/command_line.h"

namespace headscope {

namespace {

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, at);) {
        parts.push_back(part);
    }
    return parts;
}

std::vector<OptionText> options_of(const CLI::App& command, const std::string& group) {
    std::vector<OptionText> texts;
    for (const CLI::Option* option : command.get_options()) {
        if (option->nonpositional() && option->get_group() == group) {
            texts.push_back(text_of(*option, false));
        }
    }
    return texts;
}

std::vector<OptionGroup> groups_of(const CLI::App& command) {
    std::vector<OptionGroup> groups;
    const CLI::App* program = &command;
    while (program->get_parent() != nullptr) {
        program = program->get_parent();
    }
    const auto add = [&groups](const CLI::App& app, const std::string& name) {
        if (OptionGroup group{name, options_of(app, name)}; !group.options.empty()) {
            groups.push_back(std::move(group));
        }
    };
    for (const std::string& name : command.get_groups()) {
        if (name.empty()) {
            continue;  // for the program itself
        }
        if (name == "Help" && program != &command) {
            add(*program, kMessageOptions);
        }
        add(command, name);
    }
    return groups;
}

}  // namespace

std::string OptionText::label() const {
    return fmt::format("{}{}{}", fmt::join(names, ","), value.empty() ? "" : " ", value);
}

// "--beam" with "INT:1 to 30" is "--beam N" and the hint "1 to 30"; choices replace the type: "--theme {light,dark}".
OptionText text_of(const CLI::Option& option, bool as_argument) {
    OptionText text{
        .names = split(option.get_name(as_argument, !as_argument), ','), .value = {}, .choices = {}, .description = {}};
    const std::string type = option.get_type_size() == 0 ? "" : option.get_type_name();
    const std::size_t colon = type.find(':');
    const std::string values = colon == std::string::npos ? "" : type.substr(colon + 1);
    const bool is_choice = values.starts_with('{');
    if (is_choice) {
        text.choices = split(values.substr(1, values.size() - 2), ',');
    }
    if (!as_argument && !type.empty()) {
        const std::string kind = type.substr(0, colon);
        const bool is_number = kind == "INT" || kind == "UINT" || kind == "FLOAT";
        text.value = is_choice ? values : is_number ? "N" : kind;
        text.value += option.get_expected_max() > 1 ? " ..." : "";
    }
    std::vector<std::string> hints;
    if (option.get_required()) {
        hints.emplace_back("required");
    }
    if (!is_choice && !values.empty()) {
        hints.push_back(values);
    }
    if (!option.get_default_str().empty()) {
        hints.push_back("default: " + option.get_default_str());
    }
    text.description = option.get_description();
    std::replace(text.description.begin(), text.description.end(), '\n', ' ');
    text.description += hints.empty() ? "" : fmt::format(" ({})", fmt::join(hints, "; "));
    return text;
}

std::string CommandText::last_name() const {
    return name.substr(name.rfind(' ') + 1);
}

CommandText text_of(const CLI::App& command) {
    CommandText text{.name = full_name(command),
                     .description = command.get_description(),
                     .arguments = {},
                     .groups = groups_of(command),
                     .remarks = command.get_footer(),
                     .examples = {},
                     .commands = {}};
    for (const CLI::Option* option : command.get_options()) {
        if (option->get_positional()) {
            text.arguments.push_back(text_of(*option, true));
        }
    }
    for (const std::string_view heading : {"Examples:\n", "Example:\n"}) {
        if (const std::size_t at = text.remarks.find(heading); at != std::string::npos) {
            for (const std::string& line : split(text.remarks.substr(at + heading.size()), '\n')) {
                text.examples.push_back(line.substr(std::min(line.find_first_not_of(' '), line.size())));
            }
            text.remarks.resize(at);
        }
    }
    for (const CLI::App* inner : command.get_subcommands([](const CLI::App*) { return true; })) {
        text.commands.push_back(text_of(*inner));
    }
    return text;
}

}  // namespace headscope
