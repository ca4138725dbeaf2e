// Prints the progress of a training.
#pragma once

#include <functional>
#include <string>

#include "backend/backend.h"
#include "train/report_table.h"
#include "train/run.h"

namespace headscope {

// Progress goes to standard error. A closed terminal must not end a training.
class Terminal {
public:
    Terminal();
    ~Terminal() { table_.finish(); }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    Log say();
    // Empty unless standard error is a terminal.
    std::function<void(const Report&)> report();

private:
    ReportTable table_;
    bool terminal_;
};

RunHooks hooks_for(Backend& backend, Terminal& terminal);

}  // namespace headscope
