// A view as a small JSON file that reopens it.
#pragma once

#include <string>
#include <vector>

#include "viewer/session/state.h"

namespace headscope::viewer {

// The view and what it was made with.
struct SavedView {
    ViewState state = {};
    std::string model = {};                           // directory
    std::string model_name = {};                      // what the program called it
    std::int64_t parameters = 0;                      // of that model, to know another when it is met
    std::string device = {};                          // what --device said; empty: the default
    std::string other_model = {}, other_device = {};  // of the comparison; empty: none
    std::optional<std::int64_t> other_checkpoint = {};
    std::vector<std::string> notes = {};  // of reading it: which values were outside their limits
};

std::string to_json(const SavedView& view);
// A number outside today's limits becomes the nearest that is allowed, which the view's notes tell of. Error names the
// file, the key and what was expected. Names that this version does not know are refused, since a view
// that is opened half is another view.
SavedView read_view(const std::string& file);
SavedView parse_view(const std::string& json, const std::string& file);

}  // namespace headscope::viewer
