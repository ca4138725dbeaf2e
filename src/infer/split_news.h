// Reports remarks on split lines (TextResult::remark): the first ones, then their number.
#pragma once

#include <cstdint>
#include <string>

namespace headscope {

class SplitNews {
public:
    static constexpr std::int64_t kReported = 10;

    // The message for the next line's remark; empty if there is nothing to report.
    std::string next(const std::string& remark);
    // The message after the last line; empty if every remark was reported.
    std::string end() const;

private:
    std::int64_t remarks_ = 0;
};

}  // namespace headscope
