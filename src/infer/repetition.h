// Which tokens would write something that was written already.
#pragma once

#include <cstdint>
#include <vector>

namespace headscope {

// The tokens that, coming next, would end a sequence of `n` tokens that `written` holds already; each once, in order
// of what was written. n is 1 or more.
std::vector<std::int32_t> repeating_tokens(const std::vector<std::int32_t>& written, int n);

}  // namespace headscope
