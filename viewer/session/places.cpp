#include "viewer/session/places.h"

#include <algorithm>
#include <array>
#include <system_error>
#include <tuple>

#include "infer/model_lookup.h"
#include "viewer/session/session_paths.h"

namespace headscope::viewer {

namespace {

namespace fs = std::filesystem;

// Whether the folder has a file of a model, a training or an experiment, of this program or another.
bool holds_model(const fs::path& folder) {
    std::error_code unreadable;
    constexpr std::array kFiles{"config.json", "experiment.json", "log.jsonl", "model.bin", "params.best"};
    return std::any_of(kFiles.begin(), kFiles.end(),
                       [&](const char* file) { return fs::exists(folder / file, unreadable); });
}

FilePlaceKind kind_of(const fs::path& path) {
    std::error_code unreadable;
    return !fs::is_directory(path, unreadable) ? FilePlaceKind::View
           : holds_model(path)                 ? FilePlaceKind::Model
                                               : FilePlaceKind::Folder;
}

}  // namespace

std::vector<FilePlace> places_in(const std::string& folder) {
    std::error_code unreadable;
    fs::path here = absolute_path(folder);
    if (!here.has_filename()) {  // it ended with a slash
        here = here.parent_path();
    }
    std::vector<FilePlace> places;
    // Incremented without exceptions: a folder may vanish while it is read.
    std::error_code failure;
    fs::directory_iterator entry(here, fs::directory_options::skip_permission_denied, failure);
    for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
        const std::string name = entry->path().filename().string();
        const bool offered = entry->is_directory(unreadable) || is_view_file(name);
        if (offered && !name.starts_with('.')) {
            places.push_back({kind_of(entry->path()), name, entry->path().string()});
        }
    }
    std::sort(places.begin(), places.end(), [](const FilePlace& a, const FilePlace& b) {
        return std::tuple(a.kind == FilePlaceKind::View, a.name) < std::tuple(b.kind == FilePlaceKind::View, b.name);
    });
    if (here.has_relative_path()) {  // not the root
        places.insert(places.begin(), {FilePlaceKind::Parent, "..", here.parent_path().string()});
    }
    return places;
}

std::vector<FilePlace> bundled_places(const std::vector<fs::path>& search_path) {
    std::vector<FilePlace> places;
    for (const auto& [name, path] : bundled_models(search_path)) {
        places.push_back({FilePlaceKind::Model, name, path});
    }
    return places;
}

std::vector<FilePlace> recent_places(const ViewerSettings& settings) {
    std::error_code unreadable;
    std::vector<FilePlace> places;
    for (const std::string& path : settings.recent_models) {
        if (fs::exists(path, unreadable)) {
            places.push_back({kind_of(path), path, path});
        }
    }
    return places;
}

}  // namespace headscope::viewer
