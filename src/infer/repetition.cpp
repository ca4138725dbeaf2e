#include "infer/repetition.h"

#include <algorithm>
#include <cstddef>

namespace headscope {

std::vector<std::int32_t> repeating_tokens(const std::vector<std::int32_t>& written, int n) {
    std::vector<std::int32_t> found;
    const auto before = static_cast<std::ptrdiff_t>(n) - 1;  // tokens of the sequence that are there already
    const auto size = static_cast<std::ptrdiff_t>(written.size());
    const auto newest = written.end() - std::min(before, size);
    for (std::ptrdiff_t end = before; end < size; ++end) {
        const std::int32_t token = written[static_cast<std::size_t>(end)];
        if (std::equal(newest, written.end(), written.begin() + end - before) &&
            std::find(found.begin(), found.end(), token) == found.end()) {
            found.push_back(token);
        }
    }
    return found;
}

}  // namespace headscope
