// One line on standard error that is written over again and again, where someone watches.
#pragma once

#include <string>

namespace headscope {

class ProgressLine {
public:
    ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine();  // takes it away

    void show(const std::string& line);

private:
    const bool watched_;
    bool shown_ = false;
};

}  // namespace headscope
