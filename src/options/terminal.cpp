#include "options/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {

namespace {

bool has_old_content = false;  // standard output, see redirect_output()

constexpr std::string_view kProgram = "headscope:";

std::string coloured(std::string_view text, const char* code) {
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

void write_line(std::string text) {
    text += '\n';
    std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

TerminalStyle& terminal_style() {
    static TerminalStyle style;
    return style;
}

bool shows_colours(int descriptor) {
    const TerminalStyle& style = terminal_style();
    return style.colours == Colours::Always ||
           (style.colours == Colours::Auto && !style.no_color && ::isatty(descriptor) == 1);
}

void redirect_output(const std::string& path) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || ::dup2(file, STDOUT_FILENO) < 0) {
        throw Error(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
    }
    ::close(file);
    has_old_content = true;
}

void finish_output() {
    if (std::exchange(has_old_content, false) && ::ftruncate(STDOUT_FILENO, 0) != 0 && errno != EINVAL) {
        throw Error(std::string("cannot write to standard output: ") + std::strerror(errno));  // EINVAL: not a file
    }
}

void write_output(std::string_view text) {
    finish_output();
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EPIPE) {
            throw OutputClosed();
        } else if (errno != EINTR) {
            throw Error(std::string("cannot write to standard output: ") + std::strerror(errno));
        }
    }
}

void write_verdicts(const std::string& text) {
    struct Verdict {
        std::string_view word;
        const char* code;
    };
    constexpr std::array kVerdicts{Verdict{"FAILED", "31"}, Verdict{"INTERRUPTED", "33"}, Verdict{"passed", "32"}};
    std::string shown = text;
    for (const auto& [word, code] : shows_colours(STDOUT_FILENO) ? std::span(kVerdicts) : std::span<const Verdict>()) {
        const std::string marked = coloured(word, code);
        for (std::size_t at = shown.find(word); at != std::string::npos; at = shown.find(word, at + marked.size())) {
            shown.replace(at, word.size(), marked);
        }
    }
    write_output(shown);
}

void log_line(std::string_view line) {
    if (!terminal_style().quiet) {
        write_line(shows_colours(STDERR_FILENO) ? coloured(line, "2") : std::string(line));
    }
}

void log_detail(std::string_view line) {
    if (terminal_style().verbose) {
        log_line(line);
    }
}

void log_error(std::string_view line) {
    const bool begins = line.starts_with(kProgram) && shows_colours(STDERR_FILENO);
    const std::size_t head = begins ? kProgram.size() : 0;
    write_line((begins ? coloured(kProgram, "31") : "") + std::string(line.substr(head)));
}

}  // namespace headscope
