// The table of commands: keys, menus, the command palette and the help come from it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "viewer/window/input.h"

namespace headscope::viewer {

struct Command {
    std::string id;     // "panel.figure", for scripts
    std::string group;  // of the help, and its menu
    std::string title;  // "Show the figure"
    std::string keys;   // "Ctrl+1", several separated by spaces; may be empty
    bool while_typing;  // also while a text field has the focus
    std::function<void()> run;
    std::string words = {};                     // others that the palette finds it by
    std::function<std::string()> why_not = {};  // why it means nothing now, such as "This model has 4 heads."
    bool apart = false;                         // begins a section of its menu
};

// Why the command cannot run now; empty if it can.
std::string why_disabled(const Command& command);
// "Ctrl+Y or Ctrl+Shift+Z", "[": the keys as they are labelled.
std::string shown_keys(const Command& command);

// 17 for "#17", which is any item or command; else nullopt.
std::optional<std::size_t> number_in(const std::string& name);

class Commands {
public:
    // Its id and keys must be unique. The reference is valid until the next call.
    Command& add(Command command);
    const std::vector<Command>& all() const { return commands_; }
    // The command of this chord; null if there is none, or none for a text field.
    const Command* with_key(const Chord& chord, bool typing) const;
    // Error for an unknown command; a disabled one does nothing. "#17" is one of all but "quit", for any number.
    void run(const std::string& id) const;
    // The commands whose group, title and other words contain all words of `query`, ignoring case.
    std::vector<const Command*> matching(const std::string& query) const;

private:
    struct Binding {
        Chord chord;
        std::size_t command;
    };
    std::vector<Command> commands_;
    std::vector<Binding> bindings_;
};

// Adds commands to one group, which are all disabled for the same reason, if for any.
class CommandGroup {
public:
    CommandGroup(Commands& commands, std::string name, std::function<std::string()> why_not = {})
        : commands_(commands), name_(std::move(name)), why_not_(std::move(why_not)) {}
    Command& operator()(const std::string& id, const std::string& title, const std::string& keys, bool while_typing,
                        std::function<void()> run, const std::string& words = "") const {
        return commands_.add({id, name_, title, keys, while_typing, std::move(run), words, why_not_});
    }
    // Not while typing.
    Command& operator()(const std::string& id, const std::string& title, const std::string& keys,
                        std::function<void()> run) const {
        return (*this)(id, title, keys, false, std::move(run));
    }

private:
    Commands& commands_;
    std::string name_;
    std::function<std::string()> why_not_;
};

}  // namespace headscope::viewer
