// headscope-viewer: the window of `headscope view`, which starts it with its own options.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "backend/trace_file.h"
#include "io/byte_order_mark.h"
#include "options/environment.h"
#include "options/help.h"
#include "registry/registry.h"
#include "support/check.h"
#include "viewer/options/view_options.h"
#include "viewer/ui/program.h"

namespace {

using namespace headscope;

void tell(const std::string& message) {
    std::fputs(("headscope: " + message + "\n").c_str(), stderr);
}

int fail(const std::string& problem) {
    tell(problem);
    return 1;
}

viewer::ProgramOptions program_of(const ViewOptions& options, const OpenOptions& open_options) {
    const viewer::SavedView view = view_of(options, open_options.settings);
    viewer::ProgramOptions program{.open_options = open_options, .script = options.script, .record = options.record};
    program.session = {.model = view.model, .device = view.device, .precision = options.precision, .view = view};
    program.session.open_device = [open_options](const std::string& id) { return open_device(id, open_options); };
    if (options.script.empty()) {  // a script sees the same window everywhere
        std::string problem;
        program.session.settings_file = viewer::settings_path(open_options.settings);
        program.session.settings = viewer::load_settings(program.session.settings_file, problem);
        if (!problem.empty()) {
            tell(problem);
            program.session.settings_file.clear();  // stays as it is, for whoever wrote it
        }
        if (view.model_name.empty()) {  // not a saved one
            program.session.view.state.palette = program.session.settings.palette;
        }
    }
    return program;
}

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of write()
    on_byte_order_mark([](const std::string& name) {
        tell(fmt::format("{} begins with a byte order mark, which was removed", name));
    });
    const OpenOptions open_options{.settings = read_environment(environ),
                                   .diagnostics = Diagnostics([](Severity, const std::string& text) { tell(text); })};
    CLI::App app("Look at every head, live, in a window.", "headscope-viewer");
    ViewOptions options;
    add_view_options(app, options);
    format_help(app);
    try {
        app.parse(argc, argv);
        viewer::run_program(program_of(options, open_options));
        TraceFile::require_written();
        return 0;
    } catch (const CLI::ParseError& error) {
        return app.exit(error);
    } catch (const Error& error) {
        return fail(error.what());
    } catch (const std::exception& error) {
        return fail(fmt::format("internal error: {}", error.what()));
    }
}
