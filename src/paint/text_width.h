// Estimates text widths without a font, so that windows, files and tests lay out figures alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headscope {

// In units of the text size. Based on DejaVu Sans, one of the widest common fonts, so others fit too.
double text_width(std::string_view text);

// Wraps a text into lines of at most `width`, in units of the text size. Breaks words that are longer; keeps line
// breaks.
std::vector<std::string> wrapped(std::string_view text, double width);

}  // namespace headscope
