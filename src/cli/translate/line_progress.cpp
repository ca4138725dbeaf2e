#include "cli/translate/line_progress.h"

#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.h"
#include "support/counted.h"

namespace headscope {

std::string progress_text(std::int64_t done, std::optional<std::int64_t> all, double seconds) {
    const double rate = seconds > 0.0 ? static_cast<double>(done) / seconds : 0.0;
    std::string text = fmt::format("{}, {:.1f} lines/s", counted(done, "line"), rate);
    if (all && *all > 0) {
        const double share = static_cast<double>(done) / static_cast<double>(*all);
        text = fmt::format("{} of {} ({:.0f} %), {:.1f} lines/s", done, counted(*all, "line"),
                           std::floor(100.0 * share), rate);
        if (rate > 0.0 && done < *all) {
            text += fmt::format(", {:.0f} s left", static_cast<double>(*all - done) / rate);
        }
    }
    return text;
}

LineProgress::LineProgress(bool shown, std::optional<std::int64_t> all)
    : shown_(shown), terminal_(::isatty(STDERR_FILENO) == 1), all_(all) {}

void LineProgress::done(std::int64_t lines) {
    constexpr std::chrono::milliseconds kRewritten{500};
    constexpr std::chrono::seconds kWritten{10};
    done_ += lines;
    const auto now = Clock::now();
    if (shown_ && now - last_ >= (terminal_ ? Clock::duration(kRewritten) : Clock::duration(kWritten))) {
        last_ = now;
        show();
    }
}

void LineProgress::message(const std::string& text) {
    clear();
    log_line(text);
}

void LineProgress::finish() {
    clear();
    if (shown_) {
        log_line("headscope: " +
                 progress_text(done_, all_, std::chrono::duration<double>(Clock::now() - start_).count()));
    }
}

void LineProgress::show() {
    const std::string text =
        "headscope: " + progress_text(done_, all_, std::chrono::duration<double>(Clock::now() - start_).count());
    if (!terminal_) {
        log_line(text);
        return;
    }
    clear();
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
    written_ = text.size();
}

void LineProgress::clear() {
    if (written_ > 0) {
        const std::string blank = "\r" + std::string(written_, ' ') + "\r";
        std::fwrite(blank.data(), 1, blank.size(), stderr);
        written_ = 0;
    }
}

}  // namespace headscope
