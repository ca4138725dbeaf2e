// Shows the reports of a training as a growing table on a terminal.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "train/run_totals.h"

namespace headscope {

// The newest report is the last line, and the next report replaces it. Any other line keeps it and goes below, so the
// table has a row for each validation and checkpoint.
class ReportTable {
public:
    // `write` writes raw text to the terminal.
    explicit ReportTable(std::function<void(std::string_view)> write) : write_(std::move(write)) {}

    void report(const Report& report);
    void say(std::string_view line);
    // Keeps the last row and ends its line.
    void finish();

private:
    std::function<void(std::string_view)> write_;
    bool row_open_ = false;
    int lines_since_head_ = -1;  // negative: no head yet
};

}  // namespace headscope
