// Numbers and bytes in the files of painters.
#pragma once

#include <string>

namespace headscope {

// Up to three decimals without trailing zeros; never "-0".
std::string number_text(double value);
// Compressed by zlib.
std::string deflated(const std::string& bytes);

}  // namespace headscope
