// A panel of a view without a window.
#pragma once

#include <string>

#include "backend/precision.h"
#include "viewer/session/state_file.h"
#include "viewer/session/worker.h"

namespace headscope::viewer {

// Opens the model, waits for all that the panel shows and writes it, see export_panel_to. Error for what a window would
// say in its place.
void render(const SavedView& view, Precision precision, const std::string& path, double png_scale,
            Worker::OpenDevice open_device = {});

}  // namespace headscope::viewer
