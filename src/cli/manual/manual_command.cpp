// headscope manual: writes man pages and shell completion, which an installation has.
#include <filesystem>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "io/atomic_file.h"
#include "options/manual.h"
#include "options/option_values.h"

namespace headscope {

void add_manual_command(CLI::App& app) {
    auto output = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("manual", "Write man pages and shell completion")->group("Installation");
    command->footer(
        "Writes man/man1/headscope.1 and so on, and completion for bash, zsh and fish, into subfolders where these "
        "look "
        "for\n"
        "them. An installation has them already.\n\n"
        "Examples:\n"
        "  headscope manual --output out/share");
    command->add_option("-o,--output", *output, "Folder to write into, such as /usr/share")
        ->type_name("FOLDER")
        ->group("Output")
        ->required()
        ->check(not_empty);
    command->callback([&app, output] {
        for (const auto& [name, text] : manual_files(text_of(app))) {
            const std::filesystem::path file = std::filesystem::path(*output) / name;
            std::filesystem::create_directories(file.parent_path());
            atomic_write_file(file.string(), text);
        }
    });
}

}  // namespace headscope
