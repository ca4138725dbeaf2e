#include "io/usual_places.h"

#include <system_error>

namespace headscope {

namespace fs = std::filesystem;

namespace {

constexpr const char* kInTree = "assets";

}  // namespace

std::vector<fs::path> places_around(const fs::path& file) {
    fs::path folder = file.parent_path();
    fs::path prefix = folder.parent_path();
    // libexec/headscope/headscope-viewer, lib/x86_64-linux-gnu/libheadscope.so.0
    if (prefix.filename() == "libexec" || prefix.filename() == "lib") {
        prefix = prefix.parent_path();
    }
    std::vector<fs::path> paths{prefix / "share" / "headscope"};
    while (folder != folder.root_path()) {
        paths.push_back(folder / kInTree);
        folder = folder.parent_path();
    }
    return paths;
}

std::vector<fs::path> usual_places() {
    std::error_code failure;
    const fs::path executable = fs::read_symlink("/proc/self/exe", failure);
    if (failure) {
        return {kInTree};
    }
    std::vector<fs::path> paths = places_around(executable);
    paths.insert(paths.begin() + 1, kInTree);
    return paths;
}

}  // namespace headscope
