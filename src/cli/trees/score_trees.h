// headscope trees score
#pragma once

namespace CLI {
class App;
}

namespace headscope {

// Adds the action to the command `trees`.
void add_score_trees(CLI::App& trees);

}  // namespace headscope
