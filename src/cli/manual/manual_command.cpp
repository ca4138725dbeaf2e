// headscope manual: writes man pages and shell completion, which an installation has.
#include <filesystem>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "cli/command.h"
#include "io/atomic_file.h"
#include "options/common_options.h"
#include "options/manual.h"
#include "options/option_values.h"

namespace headscope {

namespace {

struct ManualOptions {
    CommonOptions common;
    std::string output;
};

void write_manual(const CLI::App& app, const ManualOptions& options) {
    nlohmann::ordered_json files = nlohmann::ordered_json::array();
    for (const auto& [name, text] : manual_files(text_of(app))) {
        const std::filesystem::path file = std::filesystem::path(options.output) / name;
        std::filesystem::create_directories(file.parent_path());
        atomic_write_file(file.string(), text);
        files.push_back(written_file(file.string()));
    }
    if (options.common.json) {
        write_output(json_document({{"files", files}}));
    }
}

}  // namespace

void add_manual_command(CLI::App& app) {
    auto options = std::make_shared<ManualOptions>();
    CLI::App* command = app.add_subcommand("manual", "Write man pages and shell completion")->group("Installation");
    command->footer(
        "Writes man/man1/headscope.1 and so on, and completion for bash, zsh and fish, into subfolders where these "
        "look "
        "for\n"
        "them. An installation has them already.\n\n"
        "Examples:\n"
        "  headscope manual --output out/share");
    command->add_option("-o,--output", options->output, "Folder to write into, such as /usr/share")
        ->type_name("FOLDER")
        ->group("Output")
        ->required()
        ->check(not_empty);
    options->common.add_json(*command);
    command->callback([&app, options] { write_manual(app, *options); });
}

}  // namespace headscope
