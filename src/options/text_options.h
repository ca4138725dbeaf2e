// Options of the commands that read a text and write another.
#pragma once

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headscope {

// --text TEXT, which becomes standard input, in place of a FILE.
CLI::Option* add_text(CLI::App& command, CLI::Option* file);
// --output FILE, which becomes standard output.
CLI::Option* add_output(CLI::App& command);

}  // namespace headscope
