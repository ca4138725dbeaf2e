// Beam search as a tree from left to right: what was tried, what won, and why the rest ended.
#pragma once

#include <vector>

#include "explore/exploration.h"
#include "paint/sketch.h"

namespace headscope {

struct BeamTreeOptions {
    bool collapse = false;  // leave out branches of which nothing was left; a node says how many it hides
    int chosen = -1;        // a node that is outlined
    Look look = {};
};

// A node is a shape (its fate: a dot went on, a filled square ended by itself, a cross fell, an open square was alive
// when the search stopped, a diamond was cut), its piece above and its score below; marks have item = index of the
// node. The tip is the reason why it ended.
Drawing draw_beam_tree(const std::vector<BeamNode>& nodes, const BeamTreeOptions& options);

}  // namespace headscope
