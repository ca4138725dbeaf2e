#include "options/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <exception>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "io/byte_order_mark.h"
#include "io/missing_file.h"
#include "io/unpacking_reader.h"
#include "options/command_line.h"
#include "options/command_tree.h"
#include "options/environment.h"
#include "options/help.h"
#include "options/option_values.h"
#include "options/terminal.h"
#include "options/version.h"
#include "parallel/communicator.h"
#include "parallel/mpi_launcher.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {

namespace {

// If a standard stream is closed, the next opened file would get its descriptor and the stream's output. So opens
// /dev/null in its place, in the wrong direction, so that using the stream still fails.
void reserve_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) {
            ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // gets the lowest free descriptor
        }
    }
}

// Of --help or --version.
void write_requested(const CLI::App& app, const CLI::Success& request) {
    if (const std::string problem = unexpected_words(app); !problem.empty()) {
        throw UsageError(problem);
    }
    std::ostringstream text;
    app.exit(request, text, text);
    write_output(text.str());
}

void run(CLI::App& app, const std::vector<const char*>& words, const std::function<void()>& work) {
    format_help(app);
    try {
        app.parse(static_cast<int>(words.size()), words.data());
    } catch (const CLI::Success& request) {
        write_requested(app, request);
        return;
    } catch (const CLI::ParseError& error) {
        throw UsageError(usage_problem(app, error));
    }
    work();
    finish_output();
}

void log_failure(const std::string& message) {
    constexpr std::chrono::seconds kForTheFirst(3);
    if (terminal_style().follows) {  // if the first one fails, too, the launcher ends this process
        std::this_thread::sleep_for(kForTheFirst);
    }
    log_error("headscope: " + message);
}

}  // namespace

OpenOptions start_program(const char* const* environment) {
    reserve_standard_streams();
    std::signal(SIGPIPE, SIG_IGN);  // a closed output becomes an error of write(), see OutputClosed
    std::signal(SIGXFSZ, SIG_IGN);  // like the file size limit
    on_byte_order_mark([](const std::string& name) {
        log_line(fmt::format("headscope: {} begins with a byte order mark, which was removed", name));
    });
    on_terminal_input([] { log_line("headscope: reading from the terminal; Ctrl-D ends"); });
    OpenOptions open{
        .settings = read_environment(environment),
        .diagnostics = Diagnostics([](Severity, const std::string& text) { log_line("headscope: " + text); })};
    const std::optional<MpiLauncher> launcher = mpi_launcher(open.settings);
    terminal_style().follows = launcher && launcher->rank > 0;
    for (const std::string& message : misspelt_variables(environment)) {
        if (!terminal_style().follows) {
            log_error("headscope: " + message);
        }
    }
    terminal_style().no_color = !open.settings.get("NO_COLOR").empty() || open.settings.get("TERM") == "dumb";
    return open;
}

void add_program_flags(CLI::App& app) {
    TerminalStyle& style = terminal_style();
    app.fallthrough();                               // commands leave these options to the program
    app.option_defaults()->disable_flag_override();  // --greedy=3 is an error
    app.option_defaults()->group(kMessageOptions);
    CLI::Option* quiet =
        app.add_flag("-q,--quiet", style.quiet, "Print neither notes nor progress, only results and errors");
    app.add_flag("-v,--verbose", style.verbose, "Print details, too")->excludes(quiet);
    static constexpr std::array kWhen{"auto", "always", "never"};  // in the order of Colours
    add_choice(
        app, "--color", kWhen, [&style](std::size_t when) { style.colours = static_cast<Colours>(when); },
        "Colours; auto: on a terminal, unless NO_COLOR is set");
    app.option_defaults()->group("Options");
    app.set_version_flag("-V,--version", version_line(app.get_name()), "Print the version and exit")->group("Help");
}

int run_program(CLI::App& app, const std::vector<const char*>& words, const std::function<void()>& work) {
    try {
        run(app, words, work);
        return 0;
    } catch (const OutputClosed&) {
        return 1;
    } catch (const OtherRankFailed&) {  // which says why
        return 1;
    } catch (const UsageError& error) {
        if (!terminal_style().follows) {  // all have the same command line
            log_error(fmt::format("headscope: {}", error.what()));
        }
        return kUsageExit;
    } catch (const MissingFile& error) {
        log_failure(missing_file(error, app));
    } catch (const Error& error) {
        log_failure(error.what());
    } catch (const std::exception& error) {
        log_failure(fmt::format("internal error: {}", error.what()));
    }
    return 1;
}

}  // namespace headscope
