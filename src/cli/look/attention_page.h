// headscope attention --page: every head of a text in one page for a browser.
#pragma once

#include <string>

#include "cli/look/attention_options.h"

namespace headscope {

// HTML.
std::string look_at_page(const AttentionOptions& options);

}  // namespace headscope
