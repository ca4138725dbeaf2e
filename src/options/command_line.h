// What is wrong with the words of a command line, in our own words, not in CLI11's.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace headscope {

class MissingFile;

// "headscope bench train"
std::string full_name(const CLI::App& command);

// The innermost command given: headscope, headscope bench, or headscope bench train.
const CLI::App& innermost(const CLI::App& app);

// The message for the first word that no command expects; empty if there is none.
std::string unexpected_words(const CLI::App& app);

// The message for an error of the parser: "--beam: expected a value, found none; headscope translate --help explains
// it".
std::string usage_problem(const CLI::App& app, const CLI::ParseError& error);

// The message for a file that does not exist; for what looks like a text, how to give one.
std::string missing_file(const MissingFile& error, const CLI::App& app);

}  // namespace headscope
