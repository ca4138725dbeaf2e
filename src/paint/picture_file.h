// Pictures in files, whose names say the format. A format is a row here.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "paint/drawing.h"

namespace headscope {

struct PictureFormat {
    const char* name;  // the end of the file's name, without its dot
    // `scale`: pixels per unit of the drawing, of a bitmap.
    std::string (*written)(const Drawing& drawing, double scale);
};
constexpr double kPictureScale = 2.0;  // by default
extern const std::array<PictureFormat, 4> kPictureFormats;

// ".svg, .png, .pdf or .html"; with a further format at the end.
std::string picture_names(const std::string& further = "");
// By the end of the name; null if it has none of these.
const PictureFormat* picture_format_of(std::string_view path);
// Otherwise Error names them.
const PictureFormat& require_picture_name(const std::string& path);

}  // namespace headscope
