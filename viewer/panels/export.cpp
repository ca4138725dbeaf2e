#include "viewer/panels/export.h"

#include <fmt/format.h>

#include "io/atomic_file.h"
#include "paint/picture_file.h"
#include "support/check.h"
#include "viewer/panels/panel_drawing.h"

namespace headscope::viewer {

std::string export_names() {
    return picture_names(".json") + ", or .tsv for the matrix";
}

void export_panel_to(const Scene& scene, PanelId panel, const std::string& path, double png_scale) {
    const auto ends = [&](std::string_view ending) { return path.size() > ending.size() && path.ends_with(ending); };
    const PanelOptions options{.text_size = 10.0, .width = 620.0};  // fits a page
    if (const PictureFormat* const format = picture_format_of(path); format != nullptr) {
        atomic_write_file(path, format->written(draw_panel(scene, panel, options), png_scale));
    } else if (ends(".json")) {
        atomic_write_file(path, panel_json(scene, panel));
    } else if (ends(".tsv") && panel_of(panel).table != nullptr) {
        atomic_write_file(path, panel_tsv(scene, panel));
    } else {
        throw Error(fmt::format("'{}' should end in {}", path, export_names()));
    }
}

}  // namespace headscope::viewer
