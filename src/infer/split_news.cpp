#include "infer/split_news.h"

#include <fmt/format.h>

namespace headscope {

std::string SplitNews::next(const std::string& remark) {
    remarks_ += remark.empty() ? 0 : 1;
    if (remark.empty() || remarks_ > kReported) {
        return {};
    }
    return remarks_ < kReported ? remark : remark + "; further ones are only counted";
}

std::string SplitNews::end() const {
    return remarks_ <= kReported
               ? std::string()
               : fmt::format("{} lines were long; the first {} are listed above", remarks_, kReported);
}

}  // namespace headscope
