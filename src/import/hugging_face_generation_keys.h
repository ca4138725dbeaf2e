// The keys of generation_config.json that no option obeys.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace headscope {

// Keys that could change an output, with their neutral values.
const std::vector<std::pair<const char*, nlohmann::json>>& ignored_generation_keys();

// Keys that change nothing here: they are read elsewhere, say how to compute or what to return, or count only with
// do_sample or another model.
const std::set<std::string>& harmless_generation_keys();

}  // namespace headscope
