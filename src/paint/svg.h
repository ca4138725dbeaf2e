// A drawing as an SVG file: no script, no font, nothing from outside; the same drawing gives the same bytes.
#pragma once

#include <string>

#include "paint/drawing.h"

namespace headscope {

std::string to_svg(const Drawing& drawing);

// Text for XML: <, >, &, quotes escaped; bytes that are no UTF-8 and characters that XML 1.0 forbids become U+FFFD.
std::string escape_xml(const std::string& text);

}  // namespace headscope
