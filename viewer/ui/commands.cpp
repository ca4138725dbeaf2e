#include "viewer/ui/commands.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

#include "support/check.h"

namespace headscope::viewer {

namespace {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return text;
}

}  // namespace

std::optional<std::size_t> number_in(const std::string& name) {
    std::size_t number = 0;
    const char* end = name.data() + name.size();
    const bool marked = name.size() > 1 && name.front() == '#';
    return marked && std::from_chars(name.data() + 1, end, number).ptr == end ? std::optional(number) : std::nullopt;
}

void Commands::add(Command command) {
    for (const Command& other : commands_) {
        HEADSCOPE_CHECK(other.id != command.id, "duplicate command " + command.id);
    }
    std::istringstream keys(command.keys);
    for (std::string text; keys >> text;) {
        const Chord chord = parse_chord(text);
        for (const Binding& binding : bindings_) {
            HEADSCOPE_CHECK(!(binding.chord == chord),
                            command.id + " and " + commands_[binding.command].id + " share the key " + text);
        }
        bindings_.push_back({chord, commands_.size()});
    }
    commands_.push_back(std::move(command));
}

bool Commands::press(const Chord& chord, bool typing) const {
    for (const Binding& binding : bindings_) {
        const Command& command = commands_[binding.command];
        if (binding.chord == chord && (!typing || command.while_typing)) {
            command.run();
            return true;
        }
    }
    return false;
}

void Commands::run(const std::string& id) const {
    if (const std::optional<std::size_t> number = number_in(id)) {
        const Command& any = commands_.at(*number % commands_.size());
        if (any.id != "quit") {
            any.run();
        }
        return;
    }
    for (const Command& command : commands_) {
        if (command.id == id) {
            command.run();
            return;
        }
    }
    throw Error("unknown command \"" + id + "\"; the help lists all commands (F1)");
}

std::vector<const Command*> Commands::matching(const std::string& query) const {
    std::vector<const Command*> found;
    for (const Command& command : commands_) {
        const std::string text = lower(command.group + " " + command.title);
        std::istringstream words(lower(query));
        bool all = true;
        for (std::string word; words >> word;) {
            all = all && text.find(word) != std::string::npos;
        }
        if (all) {
            found.push_back(&command);
        }
    }
    return found;
}

}  // namespace headscope::viewer
