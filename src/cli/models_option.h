// --model of the commands that take several.
#pragma once

#include <string>
#include <vector>

#include "support/settings.h"

namespace CLI {
class App;
}

namespace headscope {

// Any number of folders into `models`. `together` says in the help what several do.
void add_models_option(CLI::App& command, std::vector<std::string>& models, const std::string& together);

// Those that were given, else the one of find_model().
std::vector<std::string> find_models(const std::vector<std::string>& given, const Settings& settings);

}  // namespace headscope
