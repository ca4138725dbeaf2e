#include "cli/picture_file.h"

#include <fmt/format.h>

#include "paint/png.h"
#include "paint/svg.h"
#include "support/usage_error.h"

namespace headscope {

void require_picture_name(const std::string& path) {
    if (!path.ends_with(".svg") && !path.ends_with(".png")) {
        throw UsageError(fmt::format("'{}' is no picture: name an .svg or a .png file", path));
    }
}

std::string picture_of(const Drawing& drawing, const std::string& path, double scale) {
    return path.ends_with(".png") ? to_png(rasterise(drawing, scale)) : to_svg(drawing);
}

}  // namespace headscope
