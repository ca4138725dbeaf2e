#include "infer/split_news.h"

#include <fmt/format.h>

namespace headscope {

std::string SplitNews::next(const std::string& remark) {
    remarks_ += remark.empty() ? 0 : 1;
    if (remark.empty() || remarks_ > kTold) {
        return {};
    }
    return remarks_ < kTold ? remark : remark + "; further ones are counted";
}

std::string SplitNews::end() const {
    return remarks_ <= kTold ? std::string()
                             : fmt::format("{} lines were long; the first {} are named above", remarks_, kTold);
}

}  // namespace headscope
