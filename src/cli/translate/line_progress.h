// Progress of a long run through lines, on standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace headscope {

// "1200 of 5000 lines (24 %), 153.2 lines/s, 25 s left"
std::string progress_text(std::int64_t done, std::optional<std::int64_t> all, double seconds);

// Rewrites one line on a terminal; otherwise prints a line every ten seconds, and one at the end.
class LineProgress {
public:
    // `all`: the total number of lines, if known.
    LineProgress(bool shown, std::optional<std::int64_t> all);

    void done(std::int64_t lines);  // adds to the count
    // Prints a message without breaking the progress line.
    void message(const std::string& text);
    void finish();

private:
    using Clock = std::chrono::steady_clock;
    void show();
    void clear();

    bool shown_;
    bool terminal_;
    std::optional<std::int64_t> all_;
    std::int64_t done_ = 0;
    std::size_t written_ = 0;  // characters of the progress line
    Clock::time_point start_ = Clock::now();
    Clock::time_point last_ = start_;
};

}  // namespace headscope
