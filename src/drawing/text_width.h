// How long a label is, without asking a font: windows, files and tests lay out the same figure.
#pragma once

#include <string_view>

namespace headscope {

// In units of the text size. Measured on DejaVu Sans, one of the widest common faces, so that others fit as well.
double text_width(std::string_view text);

}  // namespace headscope
