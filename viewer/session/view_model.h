// Where the models of a saved view are on this machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "viewer/session/state_file.h"

namespace headscope::viewer {

// How a view at `view_file` names this model: those that come with the program by name, one beside or below the view by
// its path from there, others by their absolute path.
std::string name_for_view(const std::string& model, const std::string& view_file,
                          const std::vector<std::filesystem::path>& search_path);

// The path of the view, which may begin at the view, if there is something; else a folder of the same name beside the
// view, or among the recent models or those that come with the program. Empty if there is none.
std::string place_of_model(const std::string& path, const std::string& name, const std::string& view_file,
                           const std::vector<std::string>& recent,
                           const std::vector<std::filesystem::path>& search_path);

// The name that the view's model is looked for by.
std::string name_of_model(const SavedView& view);

// The view with the models as they are here, and a note for each that is elsewhere. A model that is not found keeps its
// path.
SavedView with_places(SavedView view, const std::vector<std::string>& recent,
                      const std::vector<std::filesystem::path>& search_path);

}  // namespace headscope::viewer
