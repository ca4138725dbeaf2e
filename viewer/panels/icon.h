// The program's mark: what a figure of attention looks like from far away.
#pragma once

#include "paint/drawing.h"

namespace headscope::viewer {

// A square of this many pixels a side, with nothing behind its rounded corners.
Drawing draw_icon(double side);

}  // namespace headscope::viewer
