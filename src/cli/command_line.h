// Rewords the results of CLI11's parser.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace headscope {

// Prints the requested help or version on standard output; throws as write_output() does.
void write_help_or_version(const CLI::App& app, const CLI::ParseError& request);

// The message for an error in the options of `command`, the innermost one: "--beam: expected a value, found none".
std::string error_message(const CLI::ParseError& error, const CLI::App& command);

}  // namespace headscope
