// Saved views, as small JSON files.
#pragma once

#include <string>
#include <vector>

#include "viewer/session/state.h"

namespace headscope::viewer {

// A view and the models and devices that it uses.
struct SavedView {
    ViewState state = {};
    std::string model = {};                           // directory
    std::string model_name = {};                      // as shown in the window
    std::int64_t parameters = 0;                      // of that model, to detect another one
    std::string device = {};                          // like --device; empty: the default
    std::string other_model = {}, other_device = {};  // of the comparison; empty: none
    std::optional<std::int64_t> other_checkpoint = {};
    std::string picture = {};  // to show of a model that reads pictures; not in the file, where it is the text
    // After reading: where the view is, unless its model was chosen otherwise; and what was changed in it, such as
    // values out of range.
    std::string file = {};
    std::vector<std::string> notes = {};
};

std::string to_json(const SavedView& view);
// A number out of range becomes the nearest valid one and is listed in the view's notes. Error names the file, the key
// and what was expected. Unknown keys are errors: half a view would be another view.
SavedView read_view(const std::string& file);
SavedView parse_view(const std::string& json, const std::string& file);

}  // namespace headscope::viewer
