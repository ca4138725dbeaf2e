// Draws the logit lens: what a model would write if it stopped after a layer.
#pragma once

#include "explore/lens.h"
#include "paint/sketch.h"

namespace headscope {

// A row for each layer, the last above, and a column for each token that is read. A cell has the likeliest piece on a
// ground whose colour is the stronger the likelier it is, layer (from 1; 0 is the embedding) and item, the column; it
// is framed if that piece is the one that was written. The lens has no problem.
Drawing draw_lens(const Lens& lens, const Look& look);

}  // namespace headscope
