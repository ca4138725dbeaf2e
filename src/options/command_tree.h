// What the help of a program says, as data: for --help, man pages and shell completion.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headscope {

// The group of the program's options for messages, which each command lists, too.
inline constexpr const char* kMessageOptions = "Messages";

struct OptionText {
    std::vector<std::string> names;    // "-m", "--model"; of an argument "FILE"
    std::string value;                 // "FOLDER", "N", "{f32,f16}"; empty for a flag
    std::vector<std::string> choices;  // of such a list
    std::string description;           // with "(1 to 30; default: 4)"

    // "-m,--model FOLDER"
    std::string label() const;
};
// `as_argument`: as it stands without a name, if it can.
OptionText text_of(const CLI::Option& option, bool as_argument);

struct OptionGroup {
    std::string name;
    std::vector<OptionText> options;
};

struct CommandText {
    std::string name;  // "headscope bench train"
    std::string description;
    std::vector<OptionText> arguments;
    std::vector<OptionGroup> groups;  // those of all commands last
    std::string remarks;
    std::vector<std::string> examples;  // a line each
    std::vector<CommandText> commands;

    // "train"
    std::string last_name() const;
};
CommandText text_of(const CLI::App& command);

}  // namespace headscope
