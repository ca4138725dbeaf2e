// A drawing as a page of PDF, for documents: vectors, with letters as outlines, so that it needs no font.
#pragma once

#include <string>

#include "paint/drawing.h"

namespace headscope {

// The page is as large as the drawing, at 96 pixels to the inch.
std::string to_pdf(const Drawing& drawing);

}  // namespace headscope
