// The desktop program from its start to its end.
#pragma once

#include <string>

#include "backend/open_options.h"
#include "viewer/session/session.h"

namespace headscope::viewer {

struct ProgramOptions {
    SessionOptions session = {};
    OpenOptions open_options = {};
    std::string script = {};  // played instead of the person's input; the program ends with it
    std::string record = {};  // what the person does, as such a script
};

// Until the window is closed. Error when no window can be opened, when a script fails, and when the GPU that draws the
// window is lost.
void run_program(const ProgramOptions& options);

}  // namespace headscope::viewer
