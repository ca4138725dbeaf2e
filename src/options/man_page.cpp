#include <algorithm>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "options/manual.h"
#include "options/version.h"

namespace headscope {

namespace {

// For roff.
std::string escaped(const std::string& text) {
    std::string result;
    for (const char letter : text) {
        const bool is_special = letter == '-' || letter == '\\';
        result += !is_special ? std::string(1, letter) : letter == '-' ? "\\-" : "\\e";
    }
    return result.starts_with('.') || result.starts_with('\'') ? "\\&" + result : result;
}

// "headscope-bench-train"
std::string page_of(std::string name) {
    std::replace(name.begin(), name.end(), ' ', '-');
    return name;
}

std::string section(const char* title, const std::string& text) {
    return text.empty() ? "" : fmt::format(".SH {}\n{}", title, text);
}

std::string paragraphs(const std::string& text) {
    std::string result;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        result += line.empty() ? ".PP\n" : escaped(line) + "\n";
    }
    return result;
}

std::string tagged(const std::string& label, const std::string& description) {
    return fmt::format(".TP\n.B {}\n{}\n", escaped(label), escaped(description));
}

std::string listed(const std::vector<OptionText>& options) {
    std::string result;
    for (const OptionText& option : options) {
        result += tagged(option.label(), option.description);
    }
    return result;
}

std::string synopsis(const CommandText& command) {
    std::string result = fmt::format(".B {}\n[OPTIONS]", escaped(command.name));
    for (const OptionText& argument : command.arguments) {
        result += " " + argument.label();
    }
    return result + (command.commands.empty() ? "\n" : " COMMAND\n");
}

void add_pages(const CommandText& command, std::map<std::string, std::string>& files) {
    files.emplace(fmt::format("man/man1/{}.1", page_of(command.name)), man_page(command));
    for (const CommandText& inner : command.commands) {
        add_pages(inner, files);
    }
}

}  // namespace

std::string man_page(const CommandText& command) {
    std::string page =
        fmt::format(".TH {} 1 \"\" \"headscope {}\" Headscope\n", page_of(command.name), program_version());
    page += section("NAME", fmt::format("{} \\- {}\n", escaped(page_of(command.name)), escaped(command.description)));
    page += section("SYNOPSIS", synopsis(command));
    page += section("DESCRIPTION", paragraphs(command.remarks));
    std::string commands;
    for (const CommandText& inner : command.commands) {
        commands += tagged(inner.last_name(), inner.description);
    }
    page += section("COMMANDS", commands) + section("ARGUMENTS", listed(command.arguments));
    std::string options;
    for (const OptionGroup& group : command.groups) {
        options += fmt::format(".SS {}\n{}", group.name, listed(group.options));
    }
    page += section("OPTIONS", options);
    std::string examples;
    for (const std::string& example : command.examples) {
        examples += escaped(example) + "\n";
    }
    page += section("EXAMPLES", examples.empty() ? "" : ".nf\n" + examples + ".fi\n");
    page += section("EXIT STATUS",
                    "0; 1 after an error; 2 if the command line is wrong; 128 and the number of a signal "
                    "that ended it.\n");
    const std::size_t parent = command.name.rfind(' ');
    return page +
           (parent == std::string::npos
                ? ""
                : section("SEE ALSO", fmt::format(".BR {} (1)\n", escaped(page_of(command.name.substr(0, parent))))));
}

std::map<std::string, std::string> manual_files(const CommandText& program) {
    std::map<std::string, std::string> files{
        {"bash-completion/completions/" + program.name, bash_completion(program)},
        {"zsh/site-functions/_" + program.name, zsh_completion(program)},
        {"fish/vendor_completions.d/" + program.name + ".fish", fish_completion(program)}};
    add_pages(program, files);
    return files;
}

}  // namespace headscope
