#include "cli/score/calibration_picture.h"

#include <filesystem>

#include <fmt/format.h>

#include "figures/reliability_diagram.h"
#include "io/atomic_file.h"
#include "paint/picture_file.h"

namespace headscope {

namespace {

// Of a training's model the training: "my" of out/my/model.
std::string name_of_model(const std::string& directory) {
    std::filesystem::path path = std::filesystem::absolute(directory).lexically_normal();
    path = path.filename().empty() ? path.parent_path() : path;
    return (path.filename() == "model" ? path.parent_path() : path).filename().string();
}

}  // namespace

void write_calibration(const ForcedStatistics& statistics, const std::vector<std::string>& models,
                       const std::string& path) {
    const std::string name =
        models.size() == 1 ? name_of_model(models.front()) : fmt::format("an ensemble of {}", models.size());
    atomic_write_file(path, require_picture_name(path).written(draw_reliability(statistics, name, {}), kPictureScale));
}

}  // namespace headscope
