// A progress line on standard error that is overwritten each time, if that is a terminal.
#pragma once

#include <string>

namespace headscope {

class ProgressLine {
public:
    ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine();  // clears the line

    void show(const std::string& line);

private:
    const bool on_terminal_;
    bool shown_ = false;
};

}  // namespace headscope
