#include "cli/progress_line.h"

#include <unistd.h>

namespace headscope {

namespace {

constexpr std::size_t kWidth = 100;

void write_stderr(const std::string& text) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

ProgressLine::ProgressLine() : on_terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
    if (shown_) {
        write_stderr("\r\x1b[K");
    }
}

void ProgressLine::show(const std::string& line) {
    if (on_terminal_) {
        write_stderr("\r\x1b[K" + line.substr(0, kWidth));
        shown_ = true;
    }
}

}  // namespace headscope
