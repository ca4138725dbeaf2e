#include "infer/model_lookup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <set>
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

std::string named_model(const std::string& wanted, const std::vector<fs::path>& search_path) {
    std::error_code failure;
    if (fs::exists(wanted, failure) || wanted.find('/') != std::string::npos) {
        return wanted;
    }
    std::set<std::string> names;
    for (const fs::path& place : search_path) {
        if (const fs::path path = place / "models" / wanted; is_model(path)) {
            return path.string();
        }
        for (const fs::directory_entry& entry : fs::directory_iterator(place / "models", failure)) {
            if (is_model(entry.path())) {
                names.insert(entry.path().filename().string());
            }
        }
    }
    const std::string guess = nearest(wanted, {names.begin(), names.end()});
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
