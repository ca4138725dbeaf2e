// headscope: the Transformer of "Attention Is All You Need", one subcommand for each thing to do with it.
#include <unistd.h>

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "backend/trace_file.h"
#include "cli/command.h"
#include "options/program.h"

namespace {

constexpr const char* kExamples =
    "headscope COMMAND --help, or headscope help COMMAND, explains a command.\n"
    "The exit code is 0, or 1 after an error, or 2 if the command line is wrong.\n\n"
    "Examples:\n"
    "  headscope translate --text 'The weather is nice today.'\n"
    "  headscope attention --text 'The cat sleeps because it is tired.' --word it -o cat.svg\n"
    "  headscope devices";

void add_commands(CLI::App& app, const headscope::OpenOptions& open_options, int count, const char* const* words) {
    using namespace headscope;
    add_translate_command(app, open_options);
    add_complete_command(app, open_options);
    add_chat_command(app, open_options);
    add_rank_command(app, open_options);
    add_fill_command(app, open_options);
    add_score_command(app, open_options);
    add_classify_command(app, open_options);
    add_answer_command(app, open_options);
    add_evaluate_command(app, open_options, count, words);
    add_calibrate_command(app, open_options, count, words);
    add_train_command(app, open_options, count, words);
    add_experiment_command(app, open_options);
    add_sweep_command(app, open_options);
    add_data_command(app);
    add_make_task_command(app);
    add_trees_command(app);
    add_plot_command(app);
    add_average_command(app, open_options);
    add_attention_command(app, open_options);
    add_embed_command(app, open_options);
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
    add_manual_command(app);
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
    const OpenOptions open_options = start_program(environ);
    CLI::App app("The Transformer on every GPU, with heads you can see.", "headscope");
    app.require_subcommand(1);
    app.footer(kExamples);
    add_program_flags(app);
    add_commands(app, open_options, argc, argv);
    return run_program(app, parsed_words(argc, argv), [&] { open_options.traces->require_written(); });
}
