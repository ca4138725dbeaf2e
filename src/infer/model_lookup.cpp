#include "infer/model_lookup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <system_error>

#include "model/model_directory.h"
#include "support/check.h"
#include "support/edit_distance.h"

namespace headscope {

namespace fs = std::filesystem;

namespace {

bool is_model(const fs::path& folder) {
    std::error_code failure;
    return fs::is_regular_file(folder / "config.json", failure);
}

}  // namespace

std::map<std::string, std::string> bundled_models(const std::vector<fs::path>& search_path) {
    std::error_code failure;
    std::map<std::string, std::string> models;
    for (const fs::path& place : search_path) {
        fs::directory_iterator entry(place / "models", failure);
        for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
            if (is_model(entry->path())) {
                models.try_emplace(entry->path().filename().string(), entry->path().string());
            }
        }
    }
    return models;
}

std::string named_model(const std::string& wanted, const std::vector<fs::path>& search_path) {
    std::error_code failure;
    if (fs::exists(wanted, failure) || wanted.find('/') != std::string::npos) {
        return wanted;
    }
    const std::map<std::string, std::string> models = bundled_models(search_path);
    if (const auto found = models.find(wanted); found != models.end()) {
        return found->second;
    }
    std::vector<std::string> names;
    for (const auto& [name, path] : models) {
        names.push_back(name);
    }
    const std::string guess = nearest(wanted, names);
    throw Error(fmt::format("'{}' is neither a folder nor a model that comes with headscope ({}){}", wanted,
                            names.empty() ? "they are missing" : fmt::format("{}", fmt::join(names, ", ")),
                            guess.empty() ? "" : fmt::format("; did you mean '{}'?", guess)));
}

std::string find_model(const std::string& wanted, const Settings& settings, const std::vector<fs::path>& search_path,
                       const std::string& bundled) {
    if (!wanted.empty()) {
        return model_folder(named_model(wanted, search_path));
    }
    if (const std::string set = settings.get("HEADSCOPE_MODEL"); !set.empty()) {
        return model_folder(named_model(set, search_path));
    }
    std::string searched;
    for (const fs::path& place : search_path) {
        const fs::path path = place / "models" / bundled;
        if (is_model(path)) {
            return path.string();
        }
        searched += fmt::format("\n  {}", path.string());
    }
    throw Error("no model found: use --model DIR or HEADSCOPE_MODEL=DIR. Looked for config.json in" + searched);
}

}  // namespace headscope
