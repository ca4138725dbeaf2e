// How far a long run through lines is, on standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace headscope {

// "1200 of 5000 lines (24 %), 153.2 lines/s, 25 s left"
std::string progress_text(std::int64_t done, std::optional<std::int64_t> all, double seconds);

// On a terminal one line that is rewritten; elsewhere a line at times, and one at the end.
class LineProgress {
public:
    // `all`: how many lines there are, where that is known.
    LineProgress(bool shown, std::optional<std::int64_t> all);

    void done(std::int64_t lines);  // so many more
    // A message for people, which does not collide with a line that is rewritten.
    void say(const std::string& message);
    void finish();

private:
    using Clock = std::chrono::steady_clock;
    void show();
    void clear();

    bool shown_;
    bool terminal_;
    std::optional<std::int64_t> all_;
    std::int64_t done_ = 0;
    std::size_t written_ = 0;  // characters of the line that is rewritten
    Clock::time_point start_ = Clock::now();
    Clock::time_point last_ = start_;
};

}  // namespace headscope
