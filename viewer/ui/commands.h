// The registry of commands behind keys, the command palette, the help and the menus.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "viewer/window/input.h"

namespace headscope::viewer {

struct Command {
    std::string id;     // "panel.figure", for scripts
    std::string group;  // of the help
    std::string title;  // "Show the figure"
    std::string keys;   // "Ctrl+1", several separated by spaces; may be empty
    bool while_typing;  // also while a text field has the focus
    std::function<void()> run;
};

// 17 for "#17", which is any item or command; else nullopt.
std::optional<std::size_t> number_in(const std::string& name);

class Commands {
public:
    // Its id and keys must be unique.
    void add(Command command);
    const std::vector<Command>& all() const { return commands_; }
    // Runs the command of this chord; false if there is none.
    bool press(const Chord& chord, bool typing) const;
    // Error for an unknown command. "#17" is one of all but "quit", for any number.
    void run(const std::string& id) const;
    // The commands whose group and title contain all words of `query`, ignoring case.
    std::vector<const Command*> matching(const std::string& query) const;

private:
    struct Binding {
        Chord chord;
        std::size_t command;
    };
    std::vector<Command> commands_;
    std::vector<Binding> bindings_;
};

}  // namespace headscope::viewer
