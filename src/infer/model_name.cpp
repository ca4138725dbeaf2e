#include "infer/model_name.h"

#include <filesystem>

namespace headscope {

std::string name_of_model(const std::string& directory) {
    std::filesystem::path path = std::filesystem::absolute(directory).lexically_normal();
    path = path.filename().empty() ? path.parent_path() : path;
    return (path.filename() == "model" ? path.parent_path() : path).filename().string();
}

}  // namespace headscope
