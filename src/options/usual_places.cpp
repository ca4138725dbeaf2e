#include "options/usual_places.h"

#include <system_error>

namespace headscope {

namespace fs = std::filesystem;

std::vector<fs::path> usual_places() {
    const fs::path in_tree = "assets";
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
    std::vector<fs::path> paths{prefix / "share" / "headscope", in_tree};
    while (folder != folder.root_path()) {
        paths.push_back(folder / in_tree);
        folder = folder.parent_path();
    }
    return paths;
}

}  // namespace headscope
