// Options for opening a device.
#pragma once

#include <memory>

#include "backend/trace_file.h"
#include "support/diagnostics.h"
#include "support/settings.h"

namespace headscope {

struct OpenOptions {
    Settings settings = {};
    Diagnostics diagnostics = {};
    std::shared_ptr<TraceFiles> traces = std::make_shared<TraceFiles>();  // copies of the options share them
};

}  // namespace headscope
