#include "viewer/session/places.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <system_error>
#include <tuple>

#include "import/open_model.h"
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

// Those of llama.cpp, fairseq and Marian.
bool is_model_file(const std::string& name) {
    constexpr std::array kEndings{".gguf", ".pt", ".npz"};
    return std::ranges::any_of(kEndings, [&](const char* ending) { return name.ends_with(ending); });
}

FilePlaceKind kind_of(const fs::path& path) {
    std::error_code unreadable;
    if (is_picture_file(path.string()) && fs::is_regular_file(path, unreadable)) {
        return FilePlaceKind::Picture;
    }
    if (fs::is_directory(path, unreadable)) {
        return holds_model(path) ? FilePlaceKind::Model : FilePlaceKind::Folder;
    }
    return is_model_file(path.string()) ? FilePlaceKind::Model : FilePlaceKind::View;
}

}  // namespace

bool is_picture_file(const std::string& path) {
    constexpr std::array kEndings{".png", ".jpg", ".jpeg"};
    std::string name = path;
    std::ranges::transform(name, name.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return std::ranges::any_of(kEndings, [&](const char* ending) { return name.ends_with(ending); });
}

bool is_view(const std::string& path) {
    constexpr std::uintmax_t kLargestView = 1 << 24;  // bytes; a larger file would stop the window while it is read
    std::error_code unreadable;
    return is_view_file(path) ||
           (fs::is_regular_file(path, unreadable) && fs::file_size(path, unreadable) <= kLargestView &&
            format_of(path) == ModelFormat::None);
}

std::vector<FilePlace> places_in(const std::string& folder, bool pictures) {
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
        const bool offered = entry->is_directory(unreadable) || is_view_file(name) || is_model_file(name) ||
                             (pictures && is_picture_file(name));
        if (offered && !name.starts_with('.')) {
            places.push_back({kind_of(entry->path()), name, entry->path().string()});
        }
    }
    std::ranges::sort(places, {}, [&](const FilePlace& place) {
        return std::tuple(!fs::is_directory(place.path, unreadable), place.name);
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
