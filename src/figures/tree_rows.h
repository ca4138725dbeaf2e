// In which row each node of a beam's tree stands: a branch shares its parent's row or takes the next free one below.
#pragma once

#include <vector>

#include "explore/exploration.h"

namespace headscope {

struct TreeRows {
    std::vector<int> row;     // of each node; -1: not shown
    std::vector<int> hidden;  // of each node: how many nodes below it are not shown
    int rows = 0;
};

// Columns are the nodes' steps; the best path is a straight line in row 0. `collapse` hides every branch of which
// nothing was left in the end.
TreeRows tree_rows(const std::vector<BeamNode>& nodes, bool collapse);

}  // namespace headscope
