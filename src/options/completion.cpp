#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "options/manual.h"
#include "support/shell_quoted.h"

namespace headscope {

namespace {

// The command and all inside of it.
std::vector<const CommandText*> all_of(const CommandText& command) {
    std::vector<const CommandText*> all{&command};
    for (const CommandText& inner : command.commands) {
        const std::vector<const CommandText*> more = all_of(inner);
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

// "'headscope bench' | 'headscope bench train'", all but the program itself.
std::string names_of(const CommandText& program, const char* separator) {
    std::vector<std::string> names;
    for (const CommandText* command : all_of(program)) {
        if (command != &program) {
            names.push_back("'" + command->name + "'");
        }
    }
    return fmt::format("{}", fmt::join(names, separator));
}

template <class Visit>
void for_each_option(const CommandText& command, const Visit& visit) {
    for (const OptionGroup& group : command.groups) {
        for (const OptionText& option : group.options) {
            visit(option);
        }
    }
}

bool takes_folder(const OptionText& option) {
    return option.value.starts_with("FOLDER");
}

std::string replaced(const std::string& text, const std::string& letters, const std::string& before) {
    std::string result;
    for (const char letter : text) {
        result += (letters.find(letter) != std::string::npos ? before : "") + letter;
    }
    return result;
}

std::string fish_quoted(const std::string& text) {
    return "'" + replaced(text, "'\\", "\\") + "'";
}

std::string bash_case(const CommandText& command) {
    std::string values;
    std::vector<std::string> words;
    for (const CommandText& inner : command.commands) {
        words.push_back(inner.last_name());
    }
    for_each_option(command, [&](const OptionText& option) {
        words.insert(words.end(), option.names.begin(), option.names.end());
        if (!option.value.empty()) {
            const std::string action =
                takes_folder(option) ? "kind=-d" : fmt::format("kind=-W values='{}'", fmt::join(option.choices, " "));
            values += fmt::format("                {}) {} ;;\n", fmt::join(option.names, " | "), action);
        }
    });
    return fmt::format(
        "        '{}')\n            case $before in\n{}            esac\n            words='{}'\n            ;;\n",
        command.name, values, fmt::join(words, " "));
}

std::string zsh_text(const std::string& text) {
    return replaced(text, "[]:\\", "\\");
}

// The words after a command, for _arguments.
std::string zsh_case(const CommandText& command) {
    std::vector<std::string> lines;
    for_each_option(command, [&](const OptionText& option) {
        const std::string action = !option.choices.empty() ? fmt::format("({})", fmt::join(option.choices, " "))
                                   : takes_folder(option)  ? "_files -/"
                                                           : "_files";
        const std::string value = option.value.empty() ? "" : ":" + zsh_text(option.value) + ":" + action;
        for (const std::string& name : option.names) {
            lines.push_back(shell_quoted(
                fmt::format("({}){}[{}]{}", fmt::join(option.names, " "), name, zsh_text(option.description), value)));
        }
    });
    std::vector<std::string> inner;
    for (const CommandText& each : command.commands) {
        inner.push_back(fmt::format("{}\\:{}", each.last_name(), shell_quoted(zsh_text(each.description))));
    }
    lines.push_back(inner.empty() ? "'*:file:_files'"
                                  : shell_quoted(fmt::format("1:command:(({}))", fmt::join(inner, " "))));
    return fmt::format("        '{}')\n            _arguments {} ;;\n", command.name,
                       fmt::join(lines, " \\\n                "));
}

std::string fish_lines(const CommandText& command) {
    const std::string head =
        fmt::format("complete -c headscope -n 'test (__headscope_command) = \"{}\"'", command.name);
    std::string text;
    for (const CommandText& inner : command.commands) {
        text += fmt::format("{} -f -a {} -d {}\n", head, inner.last_name(), fish_quoted(inner.description));
    }
    for_each_option(command, [&](const OptionText& option) {
        text += head;
        for (const std::string& name : option.names) {
            text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
        }
        if (!option.value.empty()) {
            text += !option.choices.empty() ? fmt::format(" -x -a '{}'", fmt::join(option.choices, " "))
                    : takes_folder(option)  ? " -x -a '(__fish_complete_directories)'"
                                            : " -r";
        }
        text += " -d " + fish_quoted(option.description) + "\n";
    });
    return text;
}

template <class Case>
std::string cases_of(const CommandText& program, const Case& case_of) {
    std::string cases;
    for (const CommandText* command : all_of(program)) {
        cases += case_of(*command);
    }
    return cases;
}

}  // namespace

std::string bash_completion(const CommandText& program) {
    return fmt::format(R"(# bash completion for {0}, written by {0} manual
_{0}() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
    local command={0} kind= values= words= word
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD - 1}}"; do
        case "$command $word" in
            {1}) command+=" $word" ;;
        esac
    done
    case $command in
{2}    esac
    if [ "$kind" = -d ]; then
        mapfile -t COMPREPLY < <(compgen -d -- "$current")
    elif [ -n "$kind" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
    else
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    fi
}}
complete -o default -o filenames -F _{0} {0}
)",
                       program.name, names_of(program, " | "), cases_of(program, bash_case));
}

std::string zsh_completion(const CommandText& program) {
    return fmt::format(R"(#compdef {0}
# zsh completion for {0}, written by {0} manual
_{0}() {{
    local command={0}
    local -i at=1 i
    for ((i = 2; i < CURRENT; ++i)); do
        case "$command $words[i]" in
            {1}) command+=" $words[i]" at=i ;;
        esac
    done
    words=("${{(@)words[at,-1]}}")
    ((CURRENT -= at - 1))
    case $command in
{2}    esac
}}
_{0} "$@"
)",
                       program.name, names_of(program, " | "), cases_of(program, zsh_case));
}

std::string fish_completion(const CommandText& program) {
    return fmt::format(R"(# fish completion for {0}, written by {0} manual
function __{0}_command
    set -l command {0}
    for word in (commandline -opc)[2..-1]
        switch "$command $word"
            case {1}
                set command "$command $word"
        end
    end
    echo $command
end
{2})",
                       program.name, names_of(program, " "), cases_of(program, fish_lines));
}

}  // namespace headscope
