// Times as people say them.
#pragma once

#include <string>

namespace headscope {

// "25 s", "12 min", "3.5 h", "12 days"
std::string duration_text(double minutes);

}  // namespace headscope
