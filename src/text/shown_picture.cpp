#include "text/shown_picture.h"

#include <algorithm>

namespace headscope {

PixelPicture picture_to_show(const std::string& path, const PatchShape& shape) {
    constexpr int kColours = 3;
    constexpr int kLeastPixels = 56;  // of a side
    const auto side = static_cast<int>(shape.side());
    const int pixels = side * std::max(static_cast<int>(shape.patch), kLeastPixels / side);
    return resized(read_picture(path, kColours), pixels, pixels);
}

}  // namespace headscope
