// Paths of models and views: absolute for files that are read later, from another working directory.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace headscope::viewer {

inline bool is_view_file(const std::string& path) {
    return path.ends_with(".headscope");
}

inline std::string absolute_path(const std::string& path) {
    std::error_code failed;
    const std::filesystem::path whole = std::filesystem::absolute(path, failed).lexically_normal();
    return failed ? path : whole.string();
}

}  // namespace headscope::viewer
