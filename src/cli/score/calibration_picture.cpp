#include "cli/score/calibration_picture.h"

#include <fmt/format.h>

#include "figures/reliability_diagram.h"
#include "infer/model_name.h"
#include "io/atomic_file.h"
#include "paint/picture_file.h"

namespace headscope {

void write_calibration(const ForcedStatistics& statistics, const std::vector<std::string>& models,
                       const std::string& path) {
    const std::string name =
        models.size() == 1 ? name_of_model(models.front()) : fmt::format("an ensemble of {}", models.size());
    atomic_write_file(path, require_picture_name(path).written(draw_reliability(statistics, name, {}), kPictureScale));
}

}  // namespace headscope
