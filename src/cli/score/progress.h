// Prints the progress of a long evaluation every few seconds.
#pragma once

#include <chrono>
#include <string>

#include "cli/command.h"

namespace headscope {

class TimedProgress {
public:
    void show(const std::string& line) {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ >= kEvery) {
            last_ = now;
            log_line(line);
        }
    }

private:
    static constexpr std::chrono::seconds kEvery{5};
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace headscope
