#include "viewer/session/view_model.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "infer/model_lookup.h"
#include "viewer/session/session_paths.h"

namespace headscope::viewer {

namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
    std::error_code failure;
    return fs::exists(path, failure);
}

std::string name_in(const std::string& path) {
    const fs::path normal = fs::path(path).lexically_normal();
    return (normal.has_filename() ? normal : normal.parent_path()).filename().string();
}

void place(std::string& path, const std::string& name, SavedView& view, const std::vector<std::string>& recent,
           const std::vector<fs::path>& search_path) {
    const std::string found = place_of_model(path, name, view.file, recent, search_path);
    if (found.empty()) {
        return;
    }
    const auto is_bundled = [&](const fs::path& folder) { return found == folder / "models" / name; };
    const bool as_saved = found == fs::path(view.file).parent_path() / path;
    if (!as_saved && std::ranges::none_of(search_path, is_bundled)) {
        view.notes.push_back(fmt::format("{} is not on this machine: opened {}, which has the same name", path, found));
    }
    path = found;
}

}  // namespace

std::string name_for_view(const std::string& model, const std::string& view_file,
                          const std::vector<fs::path>& search_path) {
    if (model.empty()) {
        return "";
    }
    const fs::path whole = absolute_path(model);
    for (const auto& [name, path] : bundled_models(search_path)) {
        if (absolute_path(path) == whole) {
            return name;
        }
    }
    const fs::path near = whole.lexically_relative(fs::path(absolute_path(view_file)).parent_path());
    return (near.empty() || *near.begin() == ".." ? whole : near).string();
}

std::string place_of_model(const std::string& path, const std::string& name, const std::string& view_file,
                           const std::vector<std::string>& recent, const std::vector<fs::path>& search_path) {
    const fs::path seen_from_view = fs::path(view_file).parent_path() / path;
    if (!path.empty() && is_there(seen_from_view)) {
        return seen_from_view.string();
    }
    if (name.empty()) {
        return "";
    }
    std::vector<fs::path> places{fs::path(view_file).parent_path() / name};
    for (const std::string& other : recent) {
        if (name_in(other) == name) {
            places.emplace_back(other);
        }
    }
    for (const fs::path& folder : search_path) {
        places.push_back(folder / "models" / name);
    }
    for (const fs::path& one : places) {
        if (is_there(one)) {
            return one.string();
        }
    }
    return "";
}

std::string name_of_model(const SavedView& view) {
    return view.model_name.empty() ? name_in(view.model) : view.model_name;
}

SavedView with_places(SavedView view, const std::vector<std::string>& recent,
                      const std::vector<fs::path>& search_path) {
    if (view.file.empty()) {
        return view;  // not a saved one
    }
    place(view.model, name_of_model(view), view, recent, search_path);
    if (!view.other_model.empty()) {
        place(view.other_model, name_in(view.other_model), view, recent, search_path);
    }
    return view;
}

}  // namespace headscope::viewer
