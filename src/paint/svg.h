// A drawing as an SVG file: no script, no font, nothing from outside; the same drawing gives the same bytes.
#pragma once

#include <string>

#include "paint/drawing.h"

namespace headscope {

std::string to_svg(const Drawing& drawing);

}  // namespace headscope
