#include "viewer/ui/commands.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <sstream>
#include <string_view>
#include <utility>

#include "support/check.h"

namespace headscope::viewer {

namespace {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return text;
}

void run_enabled(const Command& command) {
    if (why_disabled(command).empty()) {
        command.run();
    }
}

// "Ctrl+[" for "Ctrl+LeftBracket"
std::string labelled(std::string chord) {
    using Label = std::pair<std::string_view, std::string_view>;
    constexpr std::array kLabels{Label{"Plus", "+"},        Label{"Minus", "\u2212"}, Label{"Comma", ","},
                                 Label{"Period", "."},      Label{"Slash", "/"},      Label{"LeftBracket", "["},
                                 Label{"RightBracket", "]"}};
    for (const auto& [name, label] : kLabels) {
        if (chord.ends_with(name)) {
            chord.replace(chord.size() - name.size(), name.size(), label);
        }
    }
    return chord;
}

}  // namespace

std::string why_disabled(const Command& command) {
    return command.why_not ? command.why_not() : "";
}

std::string shown_keys(const Command& command) {
    std::string shown;
    std::istringstream keys(command.keys);
    for (std::string chord; keys >> chord;) {
        shown += (shown.empty() ? "" : " or ") + labelled(chord);
    }
    return shown;
}

std::optional<std::size_t> number_in(const std::string& name) {
    std::size_t number = 0;
    const char* end = name.data() + name.size();
    const bool marked = name.size() > 1 && name.front() == '#';
    return marked && std::from_chars(name.data() + 1, end, number).ptr == end ? std::optional(number) : std::nullopt;
}

Command& Commands::add(Command command) {
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
    return commands_.emplace_back(std::move(command));
}

const Command* Commands::with_key(const Chord& chord, bool typing) const {
    for (const Binding& binding : bindings_) {
        const Command& command = commands_[binding.command];
        if (binding.chord == chord && (!typing || command.while_typing)) {
            return &command;
        }
    }
    return nullptr;
}

void Commands::run(const std::string& id) const {
    if (const std::optional<std::size_t> number = number_in(id)) {
        const Command& any = commands_.at(*number % commands_.size());
        if (any.id != "quit") {
            run_enabled(any);
        }
        return;
    }
    for (const Command& command : commands_) {
        if (command.id == id) {
            run_enabled(command);
            return;
        }
    }
    throw Error("unknown command \"" + id + "\"; the help lists all commands (F1)");
}

std::vector<const Command*> Commands::matching(const std::string& query) const {
    std::vector<const Command*> found;
    for (const Command& command : commands_) {
        const std::string text = lower(command.group + " " + command.title + " " + command.words);
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
