// Writes a drawing as a self-contained, reproducible SVG file: no scripts, fonts or external references.
#pragma once

#include <string>

#include "paint/drawing.h"

namespace headscope {

struct SvgOptions {
    // For pages with scripts: each part says what it stands for, in data-query, data-key and data-head. The title is an
    // attribute, since browsers show the element as a tooltip of the whole drawing.
    bool data = false;
};

std::string to_svg(const Drawing& drawing, const SvgOptions& options = {});

}  // namespace headscope
