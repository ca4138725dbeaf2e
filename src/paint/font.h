// The letters that windows and bitmaps draw with: DejaVu Sans, part of the program (assets/fonts has its terms).
#pragma once

#include <cstdint>
#include <span>

namespace headscope {

// A TrueType file.
std::span<const std::uint8_t> font_bytes(bool bold);

}  // namespace headscope
