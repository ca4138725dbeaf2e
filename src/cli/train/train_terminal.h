// What a training says while it runs.
#pragma once

#include <functional>
#include <string>

#include "backend/backend.h"
#include "train/report_table.h"
#include "train/run.h"

namespace headscope {

// Progress is news for people: it goes to standard error, and a closed terminal must not end a training of hours.
class Terminal {
public:
    Terminal();
    ~Terminal() { table_.finish(); }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    Say say();
    // Empty where a report is a line as any other.
    std::function<void(const Report&)> report();

private:
    ReportTable table_;
    bool terminal_;
};

RunHooks hooks_for(Backend& backend, Terminal& terminal);

}  // namespace headscope
