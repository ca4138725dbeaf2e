// The progress of long work on standard error: "1200 of 5000 lines (24 %), 153.2 lines/s, 25 s left".
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace headscope {

// Where progress is shown.
struct ProgressScreen {
    std::function<void(std::string_view)> write;
    std::function<double()> seconds;  // a clock
    bool is_terminal = false;
    bool quiet = false;
    std::size_t columns = 100;
};
// Standard error. `on_terminal`: whether to show progress there if that is a terminal.
ProgressScreen standard_error(bool on_terminal = true);

// One line that is rewritten on a terminal, and otherwise a line a minute.
class ProgressMeter {
public:
    // `unit`: what is counted, such as "line". `all`: how many there are; 0 if that is not known.
    explicit ProgressMeter(std::string unit, std::int64_t all = 0, ProgressScreen screen = standard_error());
    ProgressMeter(const ProgressMeter&) = delete;
    ProgressMeter& operator=(const ProgressMeter&) = delete;
    ~ProgressMeter() { clear(); }

    // So many are done, in total. `doing`: the step that begins, which a terminal shows at once.
    void done(std::int64_t count, const std::string& doing = "");
    void add(std::int64_t count, const std::string& doing = "") { done(done_ + count, doing); }
    // Another step begins.
    void step(const std::string& doing) { done(started_++, doing); }
    void set_all(std::int64_t all) { all_ = all; }
    // Removes the line from a terminal, before something else is written there.
    void clear();

private:
    std::string text(double seconds, const std::string& doing) const;

    std::string unit_;
    std::int64_t all_;
    ProgressScreen screen_;
    double start_;
    double shown_;  // when the last line was written
    std::int64_t done_ = 0;
    std::int64_t started_ = 0;  // steps
    bool on_line_ = false;
};

}  // namespace headscope
