// What CLI11 has to say of a command line, on this program's terms.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace headscope {

// What was asked for in place of a command, help or the version, on standard output: fails as write_output() does.
void write_asked(const CLI::App& app, const CLI::ParseError& asked);

// What is wrong, by an error that came of `command`, the innermost one: "--beam: expected a value, found none".
std::string in_words(const CLI::ParseError& error, const CLI::App& command);

}  // namespace headscope
