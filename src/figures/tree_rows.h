// Assigns a row to each node of a beam tree: a branch continues its parent's row or takes the next free one below.
#pragma once

#include <vector>

#include "explore/exploration.h"

namespace headscope {

struct TreeRows {
    std::vector<int> row;     // of each node; -1: hidden
    std::vector<int> hidden;  // of each node: the number of hidden nodes below it
    int rows = 0;
};

// Columns are the nodes' steps; the best path is a straight line in row 0. `collapse` hides dead branches.
TreeRows tree_rows(const std::vector<BeamNode>& nodes, bool collapse);

}  // namespace headscope
