// The main loop of the desktop program.
#pragma once

#include <functional>
#include <string>

#include "backend/open_options.h"
#include "viewer/session/session.h"

namespace headscope::viewer {

struct ProgramOptions {
    SessionOptions session = {};
    OpenOptions open_options = {};
    std::string script = {};  // a script to play instead of user input; the program exits at its end
    std::function<void(const std::string& line)> print = [](const std::string&) {};  // what a script asks for
};

// Runs until the window is closed. Error if the window cannot be opened, a script fails or the window's GPU is lost.
void run_program(const ProgramOptions& options);

}  // namespace headscope::viewer
