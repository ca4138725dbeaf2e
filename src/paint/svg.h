// Writes a drawing as a self-contained, reproducible SVG file: no scripts, fonts or external references.
#pragma once

#include <string>

#include "paint/drawing.h"

namespace headscope {

struct SvgOptions {
    bool data = false;  // each part says what it stands for, in data-query, data-key and data-head: for scripts
};

std::string to_svg(const Drawing& drawing, const SvgOptions& options = {});

}  // namespace headscope
