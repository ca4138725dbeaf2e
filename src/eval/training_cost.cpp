#include "eval/training_cost.h"

#include <fmt/format.h>

namespace headscope {

std::string flops_text(double flops) {
    const std::string text = fmt::format("{:.1e}", flops);  // 3.3e+18
    const std::size_t e = text.find('e');
    return e == std::string::npos ? text : fmt::format("{}e{}", text.substr(0, e), std::stoi(text.substr(e + 1)));
}

}  // namespace headscope
