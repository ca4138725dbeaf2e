// What is said of lines that were split (TranslatedSentence::remark): of the first ones, then how many there were.
#pragma once

#include <cstdint>
#include <string>

namespace headscope {

class SplitNews {
public:
    static constexpr std::int64_t kTold = 10;

    // What to say of the next line, whose remark this is; empty where nothing is.
    std::string next(const std::string& remark);
    // What to say after the last line; empty where every remark was told.
    std::string end() const;

private:
    std::int64_t remarks_ = 0;
};

}  // namespace headscope
