// Several drawings as one.
#pragma once

#include <vector>

#include "paint/drawing.h"
#include "paint/ink.h"

namespace headscope {

// One below the other, or side by side, `gap` apart on one paper of `ink`. Empty ones are left out; marks stay as they
// are; title and description are those of the first, then of the others.
Drawing stacked(std::vector<Drawing> drawings, double gap, const Ink& ink);
Drawing side_by_side(std::vector<Drawing> drawings, double gap, const Ink& ink);

}  // namespace headscope
