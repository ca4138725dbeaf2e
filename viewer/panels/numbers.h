// JSON that the files of several panels hold.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "viewer/session/scene.h"

namespace headscope::viewer {

nlohmann::json site_json(const AttentionSite& site, int head);
nlohmann::json edits_json(const std::vector<AttentionEdit>& edits);
// What the model wrote: each token with its alternatives.
nlohmann::json output_json(const Exploration& shown);
nlohmann::json model_json(const Opened& model);
// The weights that the state selects.
nlohmann::json figure_json(const Scene& scene, const AttentionRecord& record);
// The same of the main side, as Panel::numbers.
nlohmann::json figure_numbers(const Scene& scene);

}  // namespace headscope::viewer
