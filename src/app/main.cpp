// headscope: the Transformer of "Attention Is All You Need", one subcommand for each thing to do with it.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "app/command.h"
#include "support/check.h"

namespace {

void add_commands(CLI::App& app) {
    using namespace headscope;
    add_train_command(app);
    add_translate_command(app);
    add_evaluate_command(app);
    add_compare_command(app);
    add_bench_command(app);
    add_attention_command(app);
    add_inspect_command(app);
    add_devices_command(app);
    add_prepare_command(app);
    add_make_task_command(app);
}

// A file that is opened while a standard stream is closed would get its number, and the stream's text. So a closed one
// is opened the wrong way round: reading and writing fail as they should.
void occupy_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) {
            ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // takes the lowest number that is free
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    occupy_standard_streams();
    std::signal(SIGPIPE, SIG_IGN);  // a closed output is an error of write(), see OutputClosed
    CLI::App app("The Transformer on every GPU, with heads you can see.", "headscope");
    app.require_subcommand(1);
    app.get_formatter()->column_width(36);
    try {
        add_commands(app);
        app.parse(argc, argv);
        return 0;
    } catch (const CLI::ParseError& error) {
        return app.exit(error);
    } catch (const headscope::OutputClosed&) {
        return 1;
    } catch (const headscope::Error& error) {
        headscope::tell(fmt::format("headscope: {}", error.what()));
    } catch (const std::exception& error) {
        headscope::tell(fmt::format("headscope: internal error: {}", error.what()));
    }
    return 1;
}
