#include "options/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "options/terminal.h"
#include "support/counted.h"
#include "support/duration.h"

namespace headscope {

namespace {

constexpr double kRewritten = 0.2;  // seconds between two lines on a terminal
constexpr double kWritten = 60.0;   // and elsewhere
constexpr const char* kNewRow = "\r\x1b[K";

// As many whole characters as fit in this many bytes.
std::string shortened(std::string text, std::size_t bytes) {
    if (text.size() > bytes) {
        while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) {
            --bytes;
        }
        text.resize(bytes);
    }
    return text;
}

}  // namespace

ProgressScreen standard_error(bool on_terminal) {
    ProgressScreen screen{
        .write =
            [](std::string_view text) {
                [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
            },
        .seconds =
            [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); },
        .is_terminal = ::isatty(STDERR_FILENO) == 1};
    screen.quiet = terminal_style().quiet || (screen.is_terminal && !on_terminal);
    winsize size{};
    if (screen.is_terminal && ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) {
        screen.columns = size.ws_col - 1U;
    }
    return screen;
}

ProgressMeter::ProgressMeter(std::string unit, std::int64_t all, ProgressScreen screen)
    : unit_(std::move(unit)),
      all_(all),
      screen_(std::move(screen)),
      start_(screen_.seconds()),
      shown_(screen_.is_terminal ? start_ - kRewritten : start_) {}

void ProgressMeter::done(std::int64_t count, const std::string& doing) {
    done_ = count;
    const double now = screen_.seconds();
    const bool begins = screen_.is_terminal && !doing.empty();
    if (screen_.quiet || (!begins && now - shown_ < (screen_.is_terminal ? kRewritten : kWritten))) {
        return;
    }
    shown_ = now;
    const std::string line = text(now - start_, doing);
    screen_.write(screen_.is_terminal ? kNewRow + shortened(line, screen_.columns) : "headscope: " + line + "\n");
    on_line_ = screen_.is_terminal;
}

void ProgressMeter::clear() {
    if (std::exchange(on_line_, false)) {
        screen_.write(kNewRow);
    }
}

std::string ProgressMeter::text(double seconds, const std::string& doing) const {
    const auto count = static_cast<double>(done_);
    std::string text = all_ > 0 ? fmt::format("{} of {} ({:.0f} %)", done_, counted(all_, unit_),
                                              std::floor(100.0 * count / static_cast<double>(all_)))
                                : counted(done_, unit_);
    if (done_ > 0 && seconds > 0.0) {
        const double rate = count / seconds;
        text += fmt::format(", {:.{}f} {}s/s", rate, rate < 1.0 ? 2 : 1, unit_);
        if (done_ < all_) {
            text += ", " + duration_text(static_cast<double>(all_ - done_) / rate / 60.0) + " left";
        }
    }
    return doing.empty() ? text : text + ": " + doing;
}

}  // namespace headscope
