// Draws a panel of a view without a window.
#pragma once

#include <string>

#include "backend/precision.h"
#include "viewer/session/state_file.h"
#include "viewer/session/worker.h"

namespace headscope::viewer {

// Opens the model, waits for everything that the panel shows and writes it, see export_panel_to(). Error for what a
// window would show as an error; `warn` gets its other notices.
void render(const SavedView& view, Precision precision, const std::string& path, double png_scale,
            Worker::OpenDevice open_device, const std::vector<std::filesystem::path>& search_path,
            const Engine::Log& warn);

}  // namespace headscope::viewer
