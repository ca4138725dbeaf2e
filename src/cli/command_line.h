// Rewords the results of CLI11's parser.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace headscope {

class MissingFile;

// Prints the requested help or version on standard output; throws as write_output() does.
void write_help_or_version(const CLI::App& app, const CLI::ParseError& request);

// The message for an error in the options of `command`, the innermost one: "--beam: expected a value, found none".
std::string error_message(const CLI::ParseError& error, const CLI::App& command);

// "headscope bench train"
std::string full_name(const CLI::App& command);

// The message for a file that does not exist, given to `command`; for what looks like a text, how to give one.
std::string missing_file(const MissingFile& error, const CLI::App& command);

}  // namespace headscope
