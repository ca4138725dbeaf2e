// Combines drawings.
#pragma once

#include <string>
#include <vector>

#include "paint/drawing.h"
#include "paint/sketch.h"

namespace headscope {

// Places drawings below one another or side by side, `gap` apart, on one background. Skips empty drawings and keeps
// marks. Takes the first title and joins the descriptions.
Drawing stacked(std::vector<Drawing> drawings, double gap, const Ink& ink);
Drawing side_by_side(std::vector<Drawing> drawings, double gap, const Ink& ink);

// With this title instead of its own.
Drawing retitled(Drawing drawing, const std::string& title);
// With this text below it.
Drawing captioned(Drawing drawing, const std::string& caption, const Look& look);

}  // namespace headscope
