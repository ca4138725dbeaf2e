// Pictures in files whose names say the format.
#pragma once

#include <string>

#include "paint/drawing.h"

namespace headscope {

// Error unless the name ends in .svg or .png.
void require_picture_name(const std::string& path);
// The file's content. `scale`: pixels per unit of the drawing, for a PNG.
std::string picture_of(const Drawing& drawing, const std::string& path, double scale = 2.0);

}  // namespace headscope
