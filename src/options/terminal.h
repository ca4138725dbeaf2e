// What a program writes: results on standard output, messages on standard error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headscope {

enum class Colours : std::uint8_t { Auto, Always, Never };

// How this process writes, by the options that every command has.
struct TerminalStyle {
    bool quiet = false;    // neither notes nor progress
    bool verbose = false;  // details, too
    Colours colours = Colours::Auto;
    bool no_color = false;  // NO_COLOR or a dumb terminal: no colours by default
    // One of the processes that a launcher started, but not the first, which says for all what is wrong before they
    // know each other.
    bool follows = false;
};
TerminalStyle& terminal_style();

// Whether what is written to this descriptor, STDOUT_FILENO or STDERR_FILENO, has colours.
bool shows_colours(int descriptor);

// Thrown when the reader of standard output has closed it (`headscope ... | head`): the program exits silently with 1.
class OutputClosed {};

// From now on standard output is this file, whose old content goes when something is written or finish_output() is
// called: until then a command can find out that it is one of its inputs.
void redirect_output(const std::string& path);
void finish_output();

// Writes to standard output, unbuffered. Throws OutputClosed if the reader is gone, Error if writing fails.
void write_output(std::string_view text);
// The same with verdicts in colour: FAILED in red, passed in green.
void write_verdicts(const std::string& text);

// Each of these prints a line on standard error, and ignores write errors.
void log_line(std::string_view line);    // a note; not with --quiet
void log_detail(std::string_view line);  // a note with --verbose only
void log_error(std::string_view line);   // what went wrong

}  // namespace headscope
