#include "infer/model_lookup.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "model/model_directory.h"
#include "support/check.h"

namespace headscope {

namespace fs = std::filesystem;

std::string find_model(const std::string& wanted, const Settings& settings, const std::vector<fs::path>& search_path,
                       const std::string& bundled) {
    if (!wanted.empty()) {
        return model_folder(wanted);
    }
    if (const std::string set = settings.get("HEADSCOPE_MODEL"); !set.empty()) {
        return model_folder(set);
    }
    std::string searched;
    for (const fs::path& place : search_path) {
        const fs::path path = place / "models" / bundled;
        std::error_code failure;
        if (fs::is_regular_file(path / "config.json", failure)) {
            return path.string();
        }
        searched += fmt::format("\n  {}", path.string());
    }
    throw Error("no model found: use --model DIR or HEADSCOPE_MODEL=DIR. Looked for config.json in" + searched);
}

}  // namespace headscope
