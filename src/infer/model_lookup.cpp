#include "infer/model_lookup.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "model/model_directory.h"
#include "support/check.h"

namespace headscope {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> candidates(const std::string& bundled) {
    const fs::path in_tree = fs::path("assets") / "models" / bundled;
    std::error_code failure;
    const fs::path executable = fs::read_symlink("/proc/self/exe", failure);
    if (failure) {
        return {in_tree};
    }
    fs::path folder = executable.parent_path();
    fs::path prefix = folder.parent_path();
    if (prefix.filename() == "libexec") {  // libexec/headscope/headscope-viewer
        prefix = prefix.parent_path();
    }
    std::vector<fs::path> paths{prefix / "share" / "headscope" / "models" / bundled, in_tree};
    while (folder != folder.root_path()) {
        paths.push_back(folder / in_tree);
        folder = folder.parent_path();
    }
    return paths;
}

}  // namespace

std::string find_model(const std::string& wanted, const Settings& settings, const std::string& bundled) {
    if (!wanted.empty()) {
        return model_folder(wanted);
    }
    if (const std::string set = settings.get("HEADSCOPE_MODEL"); !set.empty()) {
        return model_folder(set);
    }
    std::string searched;
    for (const fs::path& path : candidates(bundled)) {
        std::error_code failure;
        if (fs::is_regular_file(path / "config.json", failure)) {
            return path.string();
        }
        searched += fmt::format("\n  {}", path.string());
    }
    throw Error("no model found: use --model DIR or HEADSCOPE_MODEL=DIR. Looked for config.json in" + searched);
}

}  // namespace headscope
