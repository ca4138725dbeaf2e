// headscope-viewer: the window of `headscope view`, which starts this program with the same options.
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
#include "support/usage_error.h"
#include "viewer/options/view_options.h"
#include "viewer/ui/program.h"

namespace {

using namespace headscope;

void report(const std::string& message) {
    std::fputs(("headscope: " + message + "\n").c_str(), stderr);
}

int fail(const std::string& problem, int code = 1) {
    report(problem);
    return code;
}

viewer::ProgramOptions program_of(const ViewOptions& options) {
    const OpenOptions& open_options = options.common.open;
    const viewer::SavedView view = view_of(options);
    viewer::ProgramOptions program{.open_options = open_options,
                                   .script = options.script,
                                   .record = options.record,
                                   .print = [](const std::string& line) { fmt::print("{}\n", line); }};
    program.session = {.model = view.model, .device = view.device, .precision = options.common.precision, .view = view};
    program.session.search_path = options.common.search_path;
    program.session.open_device = [open_options](const std::string& id) { return open_device(id, open_options); };
    if (options.script.empty()) {  // scripts run with the default settings
        std::string problem;
        program.session.settings_file = viewer::settings_path(open_options.settings);
        program.session.settings = viewer::load_settings(program.session.settings_file, problem);
        if (!problem.empty()) {
            report(problem);
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
    std::signal(SIGXFSZ, SIG_IGN);  // write() reports a file-size limit as an error
    on_byte_order_mark([](const std::string& name) {
        report(fmt::format("{} begins with a byte order mark, which was removed", name));
    });
    ViewOptions options;
    options.common.open = {.settings = read_environment(environ),
                           .diagnostics = Diagnostics([](Severity, const std::string& text) { report(text); })};
    CLI::App app("Look at every head, live, in a window.", "headscope-viewer");
    app.set_version_flag("--version", "headscope-viewer " HEADSCOPE_VERSION, "Print the version and exit")
        ->group("Help");
    add_view_options(app, options);
    format_help(app);
    try {
        app.parse(argc, argv);
        const std::shared_ptr<TraceFiles> traces = options.common.open.traces;
        viewer::run_program(program_of(options));
        traces->require_written();
        return 0;
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : kUsageExit;
    } catch (const UsageError& error) {
        return fail(error.what(), kUsageExit);
    } catch (const Error& error) {
        return fail(error.what());
    } catch (const std::exception& error) {
        return fail(fmt::format("internal error: {}", error.what()));
    }
}
