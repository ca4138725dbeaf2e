// Draws a constituency tree: words in a line, their tags and constituents above them.
#pragma once

#include "paint/sketch.h"
#include "trees/tree.h"

namespace headscope {

// The root is at the top. Marks have item = number of the constituent or leaf in the order of the written tree, from
// 0; the tip of a constituent is its label and its words. The constituent or leaf `chosen` and all below it stand out.
Drawing draw_parse_tree(const Tree& tree, const Look& look = {}, int chosen = -1);

}  // namespace headscope
