#include "viewer/ui/script.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <utility>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/check.h"
#include "text/normal_form.h"

namespace headscope::viewer {

namespace {

constexpr int kFramesAfterAction = 3;
constexpr double kLastButton = 2.0;
constexpr auto kTimeout = std::chrono::seconds(120);
constexpr std::array<std::string_view, 21> kVerbs{"size",    "wait",   "frames", "point", "click",  "double", "right",
                                                  "drag",    "wheel",  "move",   "down",  "up",     "key",    "type",
                                                  "command", "expect", "shot",   "times", "scroll", "drop",   "quit"};

std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Splits off the last N numbers of a line.
template <std::size_t N>
bool split_numbers(const std::string& text, std::string& before, std::array<double, N>& numbers) {
    std::istringstream words(text);
    std::vector<std::string> all;
    for (std::string word; words >> word;) {
        all.push_back(word);
    }
    if (all.size() < N) {
        return false;
    }
    for (std::size_t i = 0; i < N; ++i) {
        const std::string& word = all[all.size() - N + i];
        char* end = nullptr;
        numbers[i] = std::strtod(word.c_str(), &end);
        if (end != word.c_str() + word.size() || !std::isfinite(numbers[i])) {
            return false;
        }
    }
    before.clear();
    for (std::size_t i = 0; i + N < all.size(); ++i) {
        before += (i == 0 ? "" : " ") + all[i];
    }
    return true;
}

InputEvent moved(double x, double y) {
    return {.kind = InputEvent::Kind::Move, .x = x, .y = y};
}

InputEvent button(int which, bool down) {
    return {.kind = InputEvent::Kind::Button, .code = which, .down = down};
}

}  // namespace

std::vector<ScriptLine> parse_script(const std::string& text, const std::string& file) {
    std::vector<ScriptLine> lines;
    std::istringstream stream(text);
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
        ++number;
        line = trimmed(line);
        if (line.empty() || line[0] == '#') {
            continue;
        }
        const std::size_t end = std::min(line.find(' '), line.size());
        ScriptLine read{number, line.substr(0, end), trimmed(line.substr(end))};
        const bool known = std::find(kVerbs.begin(), kVerbs.end(), read.verb) != kVerbs.end();
        if (!known) {
            throw Error(fmt::format("{}, line {}: unknown command \"{}\"; must be one of {}", file, number, read.verb,
                                    fmt::join(kVerbs, ", ")));
        }
        lines.push_back(std::move(read));
    }
    return lines;
}

ScriptPlayer::ScriptPlayer(std::vector<ScriptLine> lines, std::string file, Stage stage)
    : lines_(std::move(lines)), file_(std::move(file)), stage_(std::move(stage)) {}

void ScriptPlayer::fail(const ScriptLine& line, const std::string& why) const {
    throw Error(fmt::format("{}, line {}: {} {}: {}", file_, line.number, line.verb, line.rest, why));
}

void ScriptPlayer::advance() {
    if (!due_.empty()) {
        stage_.window.play(due_.front());
        due_.pop_front();
        frames_ = kFramesAfterAction;
        return;
    }
    if (frames_ > 0) {
        --frames_;
        return;
    }
    if (waiting_) {
        const ScriptLine& line = lines_[next_ - 1];
        if (std::chrono::steady_clock::now() - waiting_since_ > kTimeout) {
            fail(line, "timed out: the model is still busy after two minutes");
        }
        waiting_ = stage_.busy();
        frames_ = waiting_ ? 0 : kFramesAfterAction;
        return;
    }
    if (next_ < lines_.size()) {
        perform(lines_[next_++]);
    }
}

void ScriptPlayer::move_to(const std::string& name) {
    const std::optional<std::size_t> any = number_in(name);
    const auto place = any.has_value() ? stage_.probes.any(*any) : stage_.probes.find(name);
    if (any.has_value() && !place.has_value()) {
        later(moved(0.0, 0.0));
        return;
    }
    if (!place.has_value()) {
        throw Error("nothing has this name. Known names:\n" + stage_.probes.list());
    }
    later(moved(std::floor(static_cast<double>(place->x)), std::floor(static_cast<double>(place->y))));
}

void ScriptPlayer::press(int which, int times) {
    for (int time = 0; time < times; ++time) {
        later(button(which, true));
        later(button(which, false));
    }
}

bool ScriptPlayer::perform_pointer(const ScriptLine& line) {
    std::string name;
    std::array<double, 1> one{};
    std::array<double, 2> two{};
    if (line.verb == "point" || line.verb == "click" || line.verb == "double" || line.verb == "right") {
        move_to(line.rest);
        press(line.verb == "right" ? 1 : 0, line.verb == "point" ? 0 : line.verb == "double" ? 2 : 1);
    } else if (line.verb == "drag" && split_numbers(line.rest, name, two)) {
        move_to(name);
        const InputEvent from = due_.back();
        later(button(0, true));
        later(moved(from.x + two[0], from.y + two[1]));
        later(button(0, false));
    } else if (line.verb == "wheel" && split_numbers(line.rest, name, one)) {
        const bool ctrl = name.starts_with("Ctrl ");
        move_to(ctrl ? name.substr(5) : name);
        const auto hold = [&](bool down) {
            later({.kind = InputEvent::Kind::Key,
                   .code = GLFW_KEY_LEFT_CONTROL,
                   .down = down,
                   .modifiers = GLFW_MOD_CONTROL});
        };
        if (ctrl) {
            hold(true);
        }
        later({.kind = InputEvent::Kind::Wheel, .y = one[0]});
        if (ctrl) {
            hold(false);
        }
    } else if (line.verb == "scroll" && split_numbers(line.rest, name, two)) {
        later({.kind = InputEvent::Kind::Wheel, .x = two[0], .y = two[1]});
    } else if (line.verb == "move" && split_numbers(line.rest, name, two)) {
        later(moved(two[0], two[1]));
    } else if ((line.verb == "down" || line.verb == "up") && split_numbers(line.rest, name, one)) {
        if (one[0] < 0.0 || one[0] > kLastButton) {
            throw Error("expected the button 0, 1 or 2");
        }
        later(button(static_cast<int>(one[0]), line.verb == "down"));
    } else {
        return false;
    }
    return true;
}

void ScriptPlayer::perform(const ScriptLine& line) {
    try {
        std::string none;
        std::array<double, 1> one{};
        std::array<double, 2> two{};
        if (line.verb == "wait") {
            waiting_ = true;
            waiting_since_ = std::chrono::steady_clock::now();
        } else if (line.verb == "size" && split_numbers(line.rest, none, two)) {
            stage_.window.set_size(static_cast<int>(two[0]), static_cast<int>(two[1]));
            frames_ = 2 * kFramesAfterAction;
        } else if (line.verb == "frames" && split_numbers(line.rest, none, one)) {
            frames_ = static_cast<int>(one[0]);
        } else if (line.verb == "key") {
            const Chord chord = parse_chord(line.rest);
            for (const bool down : {true, false}) {
                later({.kind = InputEvent::Kind::Key, .code = chord.key, .down = down, .modifiers = chord.modifiers});
            }
        } else if (line.verb == "type") {
            later({.kind = InputEvent::Kind::Text, .text = line.rest});
        } else if (line.verb == "command") {
            stage_.commands.run(line.rest);
            frames_ = kFramesAfterAction;
        } else if (line.verb == "drop") {
            stage_.drop(line.rest);
        } else if (line.verb == "shot") {
            stage_.shoot(line.rest);
            frames_ = 1;
        } else if (line.verb == "times") {
            stage_.times(line.rest);
        } else if (line.verb == "expect") {
            expect(line);
        } else if (line.verb == "quit") {
            stage_.window.request_close();
        } else if (!perform_pointer(line)) {
            throw Error("expected numbers");
        }
    } catch (const Error& error) {
        fail(line, error.what());
    }
}

void ScriptPlayer::expect(const ScriptLine& line) const {
    const std::size_t space = std::min(line.rest.find(' '), line.rest.size());
    const std::string name = line.rest.substr(0, space);
    const std::string condition = trimmed(line.rest.substr(space));
    const std::string wanted = condition.empty() ? "" : nfkc(trimmed(condition.substr(1)));
    const auto found = stage_.probes.value_of(name);
    if (!found.has_value()) {
        throw Error("nothing has this name. Known names:\n" + stage_.probes.list());
    }
    const std::string said = nfkc(*found);
    const bool holds = condition.starts_with('=')   ? said == wanted
                       : condition.starts_with('~') ? said.find(wanted) != std::string::npos
                                                    : throw Error("expected = or ~ after the name");
    if (!holds) {
        throw Error("got \"" + *found + "\"");
    }
}

}  // namespace headscope::viewer
