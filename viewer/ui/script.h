// A small scripting language for the window: for demonstrations, tests and screenshots.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "viewer/ui/commands.h"
#include "viewer/ui/probes.h"
#include "viewer/window/window.h"

namespace headscope::viewer {

struct ScriptLine {
    int number = 0;
    std::string verb;
    std::string rest;  // arguments, trimmed
};

// One command per line; # begins a comment. Error names file, line and an unknown command.
//   size W H                  resize the window, in pixels
//   wait                      wait for the model
//   frames N                  draw N frames; each counts as 1/60 s
//   point|click|double|right NAME   use the pointer on the item with this name (see Probes)
//   drag NAME DX DY           drag the item by this many pixels
//   wheel [Ctrl] NAME STEPS   turn the wheel over the item
//   move X Y, down B, up B, scroll X Y   raw pointer events
//   key CHORD                 press a key such as Ctrl+Shift+P
//   type TEXT                 type a text
//   command ID                run a command of the palette
//   drop PATH                 drop a file or folder on the window
//   expect NAME = TEXT        check the value of an item;  expect NAME ~ TEXT: check for a substring
//   shot FILE                 save the window as a PNG
//   times LABEL               print the median and the worst of the frame times since the last such line
//   quit
// For tests of anything: the NAME "#17" is one of all items and parts of drawings in the window, whatever their number,
// and the ID "#17" one of all commands; without any, nothing happens.
std::vector<ScriptLine> parse_script(const std::string& text, const std::string& file);

class ScriptPlayer {
public:
    struct Stage {
        Window& window;
        const Probes& probes;
        const Commands& commands;
        std::function<void(const std::string&)> drop;   // a path, on the window
        std::function<bool()> busy;                     // whether the model is running
        std::function<void(const std::string&)> shoot;  // saves the next frame to this file
        std::function<void(const std::string&)> times;  // prints the frame times under this label
    };

    ScriptPlayer(std::vector<ScriptLine> lines, std::string file, Stage stage);

    // Runs the commands that are due; call before each frame. Error, with the line, if one fails.
    void advance();
    bool done() const { return next_ == lines_.size() && frames_ == 0 && due_.empty() && !waiting_; }

private:
    void perform(const ScriptLine& line);
    bool perform_pointer(const ScriptLine& line);
    void move_to(const std::string& name);
    void expect(const ScriptLine& line) const;
    void press(int button, int times);
    void later(InputEvent event) { due_.push_back(std::move(event)); }
    [[noreturn]] void fail(const ScriptLine& line, const std::string& why) const;

    std::vector<ScriptLine> lines_;
    std::string file_;
    Stage stage_;
    std::size_t next_ = 0;
    std::deque<InputEvent> due_;  // one per frame: Dear ImGui must see them separately
    int frames_ = 0;              // frames to draw before the next line
    bool waiting_ = false;
    std::chrono::steady_clock::time_point waiting_since_{};
};

}  // namespace headscope::viewer
