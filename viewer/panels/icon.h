// The program's icon: a small figure of attention.
#pragma once

#include "paint/drawing.h"

namespace headscope::viewer {

// A square of this many pixels per side with transparent, rounded corners.
Drawing draw_icon(double side);

}  // namespace headscope::viewer
