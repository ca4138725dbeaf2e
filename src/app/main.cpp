// headscope: the Transformer of "Attention Is All You Need", one subcommand for each thing to do with it.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include <fmt/format.h>

#include "app/command.h"
#include "support/check.h"
#include "support/edit_distance.h"

namespace {

constexpr const char* kExamples =
    "Each command explains itself with --help.\n\n"
    "Examples:\n"
    "  echo 'The weather is nice today.' | headscope translate\n"
    "  headscope attention --text 'The cat sleeps because it is tired.' --word it -o cat.svg\n"
    "  headscope devices";

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

// The innermost command of what was typed: headscope itself, or headscope bench, or headscope bench train.
const CLI::App& innermost(const CLI::App& app) {
    const CLI::App* at = &app;
    while (!at->get_subcommands().empty()) {
        at = at->get_subcommands().front();
    }
    return *at;
}

// A command of commands that was called without any, or with one that it has not.
std::string wrong_command(const CLI::App& app, const std::vector<const CLI::App*>& commands) {
    const std::string name = app.get_parent() == nullptr ? app.get_name() : "headscope " + app.get_name();
    const std::vector<std::string> words = app.remaining();
    if (words.empty()) {
        return fmt::format("say what to do; {} --help lists the commands", name);
    }
    constexpr std::size_t kSlip = 3;
    std::size_t least = kSlip + 1;
    std::string guess;
    for (const CLI::App* command : commands) {
        if (const std::size_t distance = headscope::edit_distance(words.front(), command->get_name());
            distance < least) {
            least = distance;
            guess = fmt::format("; did you mean \"{}\"?", command->get_name());
        }
    }
    return fmt::format("{} has no command \"{}\"{}", name, words.front(),
                       guess.empty() ? fmt::format("; {} --help lists them", name) : guess);
}

int refuse(const CLI::App& app, const CLI::ParseError& error) {
    const CLI::App& at = innermost(app);
    const auto commands = at.get_subcommands([](const CLI::App*) { return true; });
    if (error.get_exit_code() == 0 || commands.empty()) {
        return app.exit(error);  // help and the version, or a command's own options
    }
    headscope::tell("headscope: " + wrong_command(at, commands));
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    occupy_standard_streams();
    std::signal(SIGPIPE, SIG_IGN);  // a closed output is an error of write(), see OutputClosed
    CLI::App app("The Transformer on every GPU, with heads you can see.", "headscope");
    app.require_subcommand(1);
    app.set_version_flag("--version", "headscope " HEADSCOPE_VERSION);
    app.footer(kExamples);
    app.get_formatter()->column_width(36);
    try {
        add_commands(app);
        app.parse(argc, argv);
        return 0;
    } catch (const CLI::ParseError& error) {
        return refuse(app, error);
    } catch (const headscope::OutputClosed&) {
        return 1;
    } catch (const headscope::Error& error) {
        headscope::tell(fmt::format("headscope: {}", error.what()));
    } catch (const std::exception& error) {
        headscope::tell(fmt::format("headscope: internal error: {}", error.what()));
    }
    return 1;
}
