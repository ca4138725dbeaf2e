// Oniguruma's regular expressions, as PCRE2 understands them.
#pragma once

#include <string>
#include <string_view>

namespace headscope {

// An expression for PCRE2 with the same matches (options UTF, UCP and MULTILINE, line feeds end lines). `place` names
// the expression in errors, which are thrown for parts that PCRE2 would understand otherwise.
std::string pcre2_pattern(std::string_view oniguruma, const std::string& place);

}  // namespace headscope
