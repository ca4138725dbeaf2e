#include "viewer/panels/export.h"

#include <fmt/format.h>

#include "io/atomic_file.h"
#include "paint/html.h"
#include "paint/png.h"
#include "paint/svg.h"
#include "support/check.h"
#include "viewer/panels/panel_drawing.h"

namespace headscope::viewer {

void export_panel_to(const Scene& scene, PanelId panel, const std::string& path, double png_scale) {
    const auto ends = [&](std::string_view ending) { return path.size() > ending.size() && path.ends_with(ending); };
    const PanelOptions options{.text_size = 10.0, .width = 620.0};  // fits a page
    if (ends(".svg")) {
        atomic_write_file(path, to_svg(draw_panel(scene, panel, options)));
    } else if (ends(".png")) {
        atomic_write_file(path, to_png(rasterise(draw_panel(scene, panel, options), png_scale)));
    } else if (ends(".html")) {
        atomic_write_file(path, to_html(draw_panel(scene, panel, options)));
    } else if (ends(".json")) {
        atomic_write_file(path, panel_json(scene, panel));
    } else if (ends(".tsv") && panel_of(panel).table != nullptr) {
        atomic_write_file(path, panel_tsv(scene, panel));
    } else {
        throw Error(fmt::format("'{}' should end in .svg, .png, .html or .json, or .tsv for the matrix", path));
    }
}

}  // namespace headscope::viewer
