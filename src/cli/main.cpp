// headscope: the Transformer of "Attention Is All You Need", one subcommand for each thing to do with it.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/command_line.h"
#include "io/byte_order_mark.h"
#include "io/missing_file.h"
#include "options/environment.h"
#include "options/help.h"
#include "support/check.h"
#include "support/edit_distance.h"
#include "support/usage_error.h"

namespace {

constexpr const char* kExamples =
    "headscope COMMAND --help, or headscope help COMMAND, explains a command.\n"
    "The exit code is 0, or 1 after an error, or 2 if the command line is wrong.\n\n"
    "Examples:\n"
    "  echo 'The weather is nice today.' | headscope translate\n"
    "  headscope attention --text 'The cat sleeps because it is tired.' --word it -o cat.svg\n"
    "  headscope devices";

void add_commands(CLI::App& app, const headscope::OpenOptions& open_options, int count, const char* const* words) {
    using namespace headscope;
    add_translate_command(app, open_options);
    add_complete_command(app, open_options);
    add_fill_command(app, open_options);
    add_score_command(app, open_options);
    add_evaluate_command(app, open_options, count, words);
    add_train_command(app, open_options);
    add_experiment_command(app, open_options);
    add_sweep_command(app, open_options);
    add_data_command(app);
    add_make_task_command(app);
    add_trees_command(app);
    add_plot_command(app);
    add_average_command(app, open_options);
    add_attention_command(app, open_options);
    add_parse_command(app, open_options);
    add_view_command(app, open_options, count, words);
    add_import_command(app, open_options);
    add_export_command(app, open_options);
    add_inspect_command(app, open_options);
    add_tokenize_command(app, open_options);
    add_conform_command(app, open_options, count, words);
    add_compare_command(app, open_options);
    add_devices_command(app, open_options);
    add_bench_command(app, open_options, count, words);
    add_tune_command(app, open_options);
}

// If a standard stream is closed, the next opened file would get its descriptor and the stream's output. So opens
// /dev/null in its place, in the wrong direction, so that using the stream still fails.
void reserve_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) {
            ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // gets the lowest free descriptor
        }
    }
}

// The innermost command given: headscope, headscope bench, or headscope bench train.
const CLI::App& innermost(const CLI::App& app) {
    const CLI::App* at = &app;
    while (!at->get_subcommands().empty()) {
        at = at->get_subcommands().front();
    }
    return *at;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
}

// Advice for an unknown word: the closest of `names`, or --help.
std::string advice(const CLI::App& app, const std::string& word, const std::vector<std::string>& names) {
    const std::string guess = headscope::nearest(word, names);
    return guess.empty() ? headscope::full_name(app) + " --help lists them"
                         : fmt::format("did you mean \"{}\"?", guess);
}

std::string unknown_command(const CLI::App& app, const std::string& word) {
    std::vector<std::string> names;
    for (const CLI::App* command : commands_of(app)) {
        names.push_back(command->get_name());
    }
    return fmt::format("{} has no command \"{}\"; {}", headscope::full_name(app), word, advice(app, word, names));
}

std::vector<std::string> options_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* known : app.get_options()) {
        for (const std::string& name : known->get_lnames()) {
            names.push_back("--" + name);
        }
        for (const std::string& letter : known->get_snames()) {
            names.push_back("-" + letter);
        }
    }
    return names;
}

// The message for an unexpected word.
std::string unexpected_word(const CLI::App& app, const std::string& word) {
    if (!word.starts_with('-')) {
        return fmt::format("{}: unexpected argument \"{}\"; {} --help lists what it takes", headscope::full_name(app),
                           word, headscope::full_name(app));
    }
    const std::string option = word.substr(0, word.find('='));
    const std::vector<std::string> names = options_of(app);
    if (std::find(names.begin(), names.end(), option) != names.end()) {  // parsed as an option of a parent command
        return fmt::format("\"{}\" belongs after the command: {} {} ...", option, headscope::full_name(app), word);
    }
    return fmt::format("{} has no option \"{}\"; {}", headscope::full_name(app), option, advice(app, option, names));
}

// The message for the first unexpected word; empty if there is none.
std::string unexpected_words(const CLI::App& app) {
    const std::vector<std::string> extra = app.remaining(true);
    if (extra.empty()) {
        return "";
    }
    const CLI::App& at = innermost(app);
    const bool command = !commands_of(at).empty() && !extra.front().starts_with('-');
    return command ? unknown_command(at, extra.front()) : unexpected_word(at, extra.front());
}

int report_usage_error(const CLI::App& app, const CLI::ParseError& error) {
    const CLI::App& at = innermost(app);
    std::string problem = unexpected_words(app);
    if (problem.empty()) {
        problem = commands_of(at).empty()
                      ? fmt::format("{}; {} --help explains it", headscope::error_message(error, at),
                                    headscope::full_name(at))
                      : fmt::format("a command is required; {} --help lists the commands", headscope::full_name(at));
    }
    headscope::log_line("headscope: " + problem);
    return headscope::kUsageExit;
}

// The words of the command line in CLI11's form: "headscope help tune" is headscope tune --help, as is "headscope"
// alone headscope --help, and "headscope version" is headscope --version.
std::vector<const char*> parsed_words(int count, const char* const* words) {
    std::vector<const char*> parsed(words, words + count);
    if (parsed.empty()) {  // the caller gave not even a name
        parsed.push_back("headscope");
    }
    const std::string first = count > 1 ? parsed[1] : "help";
    if (first == "help") {
        parsed.erase(parsed.begin() + 1, parsed.begin() + (count > 1 ? 2 : 1));
        parsed.push_back("--help");
    } else if (first == "version") {
        parsed[1] = "--version";
    }
    return parsed;
}

}  // namespace

int main(int argc, char** argv) {
    using namespace headscope;
    reserve_standard_streams();
    std::signal(SIGPIPE, SIG_IGN);  // a closed output becomes an error of write(), see OutputClosed
    std::signal(SIGXFSZ, SIG_IGN);  // like the file size limit
    on_byte_order_mark([](const std::string& name) {
        log_line(fmt::format("headscope: {} begins with a byte order mark, which was removed", name));
    });
    for (const std::string& message : misspelt_variables(environ)) {
        log_line("headscope: " + message);
    }
    const OpenOptions open_options{
        .settings = read_environment(environ),
        .diagnostics = Diagnostics([](Severity, const std::string& text) { log_line("headscope: " + text); })};
    CLI::App app("The Transformer on every GPU, with heads you can see.", "headscope");
    app.require_subcommand(1);
    app.set_version_flag("--version", "headscope " HEADSCOPE_VERSION, "Print the version and exit")->group("Help");
    app.footer(kExamples);
    app.option_defaults()->disable_flag_override();  // --greedy=3 is an error
    try {
        add_commands(app, open_options, argc, argv);
        format_help(app);
        try {
            const std::vector<const char*> words = parsed_words(argc, argv);
            app.parse(static_cast<int>(words.size()), words.data());
        } catch (const CLI::Success& request) {  // help or version
            if (const std::string problem = unexpected_words(app); !problem.empty()) {
                throw UsageError(problem);
            }
            write_help_or_version(app, request);
        }
        open_options.traces->require_written();
        return 0;
    } catch (const CLI::ParseError& error) {
        return report_usage_error(app, error);
    } catch (const OutputClosed&) {
        return 1;
    } catch (const UsageError& error) {
        log_line(fmt::format("headscope: {}", error.what()));
        return kUsageExit;
    } catch (const MissingFile& error) {
        log_line("headscope: " + missing_file(error, innermost(app)));
    } catch (const Error& error) {
        log_line(fmt::format("headscope: {}", error.what()));
    } catch (const std::exception& error) {
        log_line(fmt::format("headscope: internal error: {}", error.what()));
    }
    return 1;
}
