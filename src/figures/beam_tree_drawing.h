// Draws beam search as a tree from left to right: every hypothesis, the winner, and why the others ended.
#pragma once

#include <vector>

#include "explore/exploration.h"
#include "paint/sketch.h"

namespace headscope {

struct BeamTreeOptions {
    bool collapse = false;  // hide dead branches; a node shows the number of nodes it hides
    int chosen = -1;        // the node to outline
    Look look = {};
};

// A node has its piece above and its score below a shape for its fate: dot = open, filled square = finished, cross =
// fell out of the beam, open square = live when the search stopped, diamond = cut. Marks have item = node index; the
// tip is the reason why the node ended.
Drawing draw_beam_tree(const std::vector<BeamNode>& nodes, const BeamTreeOptions& options);

}  // namespace headscope
