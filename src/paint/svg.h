// Writes a drawing as a self-contained, reproducible SVG file: no scripts, fonts or external references.
#pragma once

#include <string>

#include "paint/drawing.h"

namespace headscope {

std::string to_svg(const Drawing& drawing);

}  // namespace headscope
