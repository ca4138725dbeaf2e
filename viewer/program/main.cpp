// headscope-viewer: the window of `headscope view`, which starts this program with the same options.
#include <unistd.h>

#include <string>

#include <CLI/CLI.hpp>

#include "backend/trace_file.h"
#include "options/program.h"
#include "options/terminal.h"
#include "registry/registry.h"
#include "viewer/options/view_options.h"
#include "viewer/ui/program.h"

namespace {

using namespace headscope;

viewer::ProgramOptions program_of(const ViewOptions& options) {
    const OpenOptions& open_options = options.common.open;
    const viewer::SavedView view = view_of(options);
    viewer::ProgramOptions program{.open_options = open_options,
                                   .script = options.script,
                                   .print = [](const std::string& line) { write_output(line + "\n"); }};
    program.session = {.model = view.model, .device = view.device, .precision = options.common.precision, .view = view};
    program.session.search_path = options.common.search_path;
    program.session.open_device = [open_options](const std::string& id) { return open_device(id, open_options); };
    if (options.script.empty()) {  // scripts run with the default settings
        std::string problem;
        program.session.settings_file = viewer::settings_path(open_options.settings);
        program.session.settings = viewer::load_settings(program.session.settings_file, problem);
        if (!problem.empty()) {
            log_line("headscope: " + problem);
            program.session.settings_file.clear();  // do not overwrite a file that cannot be read
        }
        if (view.model_name.empty()) {  // not a saved view
            program.session.view.state.palette = program.session.settings.palette;
        }
    }
    return program;
}

}  // namespace

int main(int argc, char** argv) {
    ViewOptions options;
    options.common.open = start_program(environ);
    CLI::App app("Look at every head, live, in a window.", "headscope-viewer");
    add_program_flags(app);
    add_view_options(app, options);
    return run_program(app, {argv, argv + argc}, [&] {
        viewer::run_program(program_of(options));
        options.common.open.traces->require_written();
    });
}
