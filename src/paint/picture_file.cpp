#include "paint/picture_file.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paint/html.h"
#include "paint/pdf.h"
#include "paint/png.h"
#include "paint/svg.h"
#include "support/usage_error.h"

namespace headscope {

const std::array<PictureFormat, 4> kPictureFormats{
    {{"svg", [](const Drawing& drawing, double /*scale*/) { return to_svg(drawing); }},
     {"png", [](const Drawing& drawing, double scale) { return to_png(rasterise(drawing, scale)); }},
     {"pdf", [](const Drawing& drawing, double /*scale*/) { return to_pdf(drawing); }},
     {"html", [](const Drawing& drawing, double /*scale*/) { return to_html(drawing); }}}};

std::string picture_names(const std::string& further) {
    std::vector<std::string> names;
    for (const PictureFormat& format : kPictureFormats) {
        names.push_back(fmt::format(".{}", format.name));
    }
    if (!further.empty()) {
        names.push_back(further);
    }
    return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

const PictureFormat* picture_format_of(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    const auto* const found = std::ranges::find_if(kPictureFormats, [&](const PictureFormat& format) {
        return dot != 0 && dot != std::string_view::npos && path.substr(dot + 1) == format.name;
    });
    return found == kPictureFormats.end() ? nullptr : found;
}

const PictureFormat& require_picture_name(const std::string& path) {
    const PictureFormat* const format = picture_format_of(path);
    if (format == nullptr) {
        throw UsageError(fmt::format("'{}' is no picture: its name should end in {}", path, picture_names()));
    }
    return *format;
}

}  // namespace headscope
