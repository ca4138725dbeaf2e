// Everything that can be done, once: what keys, the command palette, the help and the menus run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "viewer/window/input.h"

namespace headscope::viewer {

struct Command {
    std::string id;     // "panel.figure", for scripts
    std::string group;  // of the help
    std::string title;  // "Show the figure"
    std::string keys;   // "Ctrl+1"; empty: none. Several are separated by spaces
    bool while_typing;  // also when the keyboard belongs to a text field
    std::function<void()> run;
};

class Commands {
public:
    // Error when another command has one of its keys, or its id.
    void add(Command command);
    const std::vector<Command>& all() const { return commands_; }
    // Runs what the chord stands for; false when it stands for nothing now.
    bool press(const Chord& chord, bool typing) const;
    // Error when there is no such command.
    void run(const std::string& id) const;
    // Those whose title or group has all the words of `query`, in any case of letters.
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
