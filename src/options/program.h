// What the programs do around their commands: streams and signals, the options that all commands have, exit codes.
#pragma once

#include <functional>
#include <vector>

#include "backend/open_options.h"

namespace CLI {
class App;
}

namespace headscope {

// Call it first: prepares standard streams and signals, and reports misspelt variables. Warnings of the library go to
// standard error.
OpenOptions start_program(const char* const* environment);

// --version, --quiet, --verbose and --color, which may stand before and after a command. Call it before commands are
// added.
void add_program_flags(CLI::App& app);

// Parses the words, which runs the command given, then calls `work`. Returns the exit code: 0; 1 after an error, which
// is reported; kUsageExit if the command line is wrong.
int run_program(CLI::App& app, const std::vector<const char*>& words, const std::function<void()>& work);

}  // namespace headscope
