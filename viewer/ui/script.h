// A small language that drives the window: for demonstrations, tests and screenshots.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "viewer/ui/commands.h"
#include "viewer/ui/probes.h"
#include "viewer/window/window.h"

namespace headscope::viewer {

struct ScriptLine {
    int number = 0;
    std::string verb;
    std::string rest;  // behind the verb, trimmed
};

// A line each; # begins a comment. Error names file, line and verb for what is not known.
//   size W H                  of the window, in pixels
//   wait                      until the model has answered
//   frames N                  draw so many frames, each of which is 1/60 s to the window, however long it takes
//   point|click|double|right NAME   at what was drawn under this name (see Probes)
//   drag NAME DX DY           from there by so many pixels
//   wheel NAME STEPS          turn the wheel there; with Ctrl: ctrl-wheel
//   move X Y, down B, up B, scroll X Y   the pointer, its buttons and wheel, as a recording has them
//   key CHORD                 such as Ctrl+Shift+P
//   type TEXT                 as from the keyboard
//   command ID                as from the command palette
//   expect NAME = TEXT        what was drawn says this;  expect NAME ~ TEXT: holds it
//   shot FILE                 the window as a PNG
//   quit
std::vector<ScriptLine> parse_script(const std::string& text, const std::string& file);

class ScriptPlayer {
public:
    struct Stage {
        Window& window;
        const Probes& probes;
        const Commands& commands;
        std::function<bool()> busy;                     // whether the model is at work
        std::function<void(const std::string&)> shoot;  // the next frame into this file
    };

    ScriptPlayer(std::vector<ScriptLine> lines, std::string file, Stage stage);

    // Before each frame: does what is due. Error, naming the line, for what cannot be done or is not as expected.
    void advance();
    bool done() const { return next_ == lines_.size() && frames_ == 0 && due_.empty() && !waiting_; }

private:
    void perform(const ScriptLine& line);
    bool perform_pointer(const ScriptLine& line);
    void go_to(const std::string& name);
    void expect(const ScriptLine& line) const;
    void press(int button, int times);
    void later(InputEvent event) { due_.push_back(std::move(event)); }
    [[noreturn]] void fail(const ScriptLine& line, const std::string& why) const;

    std::vector<ScriptLine> lines_;
    std::string file_;
    Stage stage_;
    std::size_t next_ = 0;
    std::deque<InputEvent> due_;  // one a frame: Dear ImGui has to see each by itself
    int frames_ = 0;              // to draw before the next line
    bool waiting_ = false;
    std::chrono::steady_clock::time_point waiting_since_{};
};

// The other way: what the user does, as a line of a script; empty for what a script has no word for, such as Ctrl alone
// or a key that is let go (a script's goes down and up).
std::string script_line(const InputEvent& event);

// All that the user does, as a script. Presses too far apart for a double click are so in the script's frames as well.
class ScriptRecorder {
public:
    // `seconds`: of any clock.
    void take(const InputEvent& event, double seconds);
    const std::string& text() const { return text_; }

private:
    std::string text_;
    std::optional<double> pressed_;
};

}  // namespace headscope::viewer
