// Tokens that must not come next in an output.
#pragma once

#include <cstdint>
#include <vector>

#include "infer/search_task.h"

namespace headscope {

// The tokens that `options` and the task forbid after these, each once, beyond those that are never written.
std::vector<std::int32_t> forbidden_after(const SearchOptions& options, const TokenRules& rules, const SearchTask& task,
                                          const std::vector<std::int32_t>& tokens);

// The tokens that would complete an n-gram of `texts` after the last n - 1 tokens of `written`; each once, in order of
// occurrence. n >= 1.
std::vector<std::int32_t> repeating_tokens(const std::vector<std::int32_t>& texts,
                                           const std::vector<std::int32_t>& written, int n);

}  // namespace headscope
