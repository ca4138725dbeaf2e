// The actions of headscope trees that have files of their own.
#pragma once

#include "trees/linearised.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headscope {

// Each adds itself to the command `trees`.
void add_restore_trees(CLI::App& trees);
void add_score_trees(CLI::App& trees);

// --terminals
CLI::Option* add_terminals_option(CLI::App& command, Terminals& terminals);

}  // namespace headscope
