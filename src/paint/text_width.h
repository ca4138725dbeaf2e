// How long a label is, without asking a font: windows, files and tests lay out the same figure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headscope {

// In units of the text size. Measured on DejaVu Sans, one of the widest common faces, so that others fit as well.
double text_width(std::string_view text);

// The words in lines of at most `width`, in units of the text size; a longer word goes on in the next.
std::vector<std::string> wrapped(std::string_view text, double width);

}  // namespace headscope
