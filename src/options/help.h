// The layout of --help.
#pragma once

namespace CLI {
class App;
}

namespace headscope {

// For a program with all its commands: commands, then groups of options in the order in which they were added, with
// --help in the last; a description wraps at 100 columns and ends with "(1 to 30; default: 4)".
void format_help(CLI::App& app);

}  // namespace headscope
