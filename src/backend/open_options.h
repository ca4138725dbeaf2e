// Options for opening a device.
#pragma once

#include "support/diagnostics.h"
#include "support/settings.h"

namespace headscope {

struct OpenOptions {
    Settings settings = {};
    Diagnostics diagnostics = {};
};

}  // namespace headscope
