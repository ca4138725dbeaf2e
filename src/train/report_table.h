// The reports of a training as a table that a terminal shows while it grows.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "train/run_totals.h"

namespace headscope {

// The newest report stands in the last line, and the next one takes its place; whatever else is said keeps it and goes
// below, so that the table has a row for each validation and checkpoint.
class ReportTable {
public:
    // `write` puts text on the terminal as it is.
    explicit ReportTable(std::function<void(std::string_view)> write) : write_(std::move(write)) {}

    void report(const Report& report);
    void say(std::string_view line);
    // Keeps the last row; nothing follows.
    void finish();

private:
    std::function<void(std::string_view)> write_;
    bool row_open_ = false;
    int lines_since_head_ = -1;  // negative: there is no head yet
};

}  // namespace headscope
