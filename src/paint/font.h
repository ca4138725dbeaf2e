// The embedded font of windows and bitmaps: DejaVu Sans (licence in assets/fonts).
#pragma once

#include <cstdint>
#include <span>

namespace headscope {

// A TrueType file.
std::span<const std::uint8_t> font_bytes(bool bold);

}  // namespace headscope
