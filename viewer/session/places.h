// Where the window offers to open models and views from.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "viewer/session/settings.h"

namespace headscope::viewer {

enum class FilePlaceKind : std::uint8_t { Parent, Folder, Model, View, Picture };

struct FilePlace {
    FilePlaceKind kind = FilePlaceKind::Folder;
    std::string name;  // in a list
    std::string path;
};

// Whether this is a saved view: a file of such a name, or any other file that is no model.
bool is_view(const std::string& path);

// Whether this is a picture that a model could read, by its name.
bool is_picture_file(const std::string& path);

// What a folder has to open: the folder above it, then its folders, of which some are models or trainings, and its
// files of models, saved views and, if wanted, pictures, by name. Hidden ones are left out. An unreadable folder has
// only the one above it.
std::vector<FilePlace> places_in(const std::string& folder, bool pictures = false);
// The models that come with the program.
std::vector<FilePlace> bundled_places(const std::vector<std::filesystem::path>& search_path);
// The models and views that were opened last and still exist.
std::vector<FilePlace> recent_places(const ViewerSettings& settings);

}  // namespace headscope::viewer
