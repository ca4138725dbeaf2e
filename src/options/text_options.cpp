#include "options/text_options.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "data/response_encoder.h"
#include "options/option_values.h"
#include "options/terminal.h"
#include "support/check.h"
#include "text/chat_template.h"

namespace headscope {

namespace {

void read_as_input(const std::string& text) {
    const int file = ::memfd_create("text", MFD_CLOEXEC);
    const std::string lines = text + "\n";
    if (file < 0 || ::write(file, lines.data(), lines.size()) != static_cast<ssize_t>(lines.size()) ||
        ::lseek(file, 0, SEEK_SET) != 0 || ::dup2(file, STDIN_FILENO) < 0) {
        throw Error(fmt::format("cannot keep the text of --text: {}", std::strerror(errno)));
    }
    ::close(file);
}

// CLI11 calls this before it finds --help, which must not replace the file.
void write_to(const CLI::App& command, const std::string& path) {
    for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
        if (app->get_help_ptr() != nullptr && app->get_help_ptr()->count() > 0) {
            return;
        }
    }
    redirect_output(path);
}

}  // namespace

CLI::Option* add_text(CLI::App& command, CLI::Option* file) {
    return command.add_option_function<std::string>("--text", read_as_input, "This text instead of a FILE")
        ->group("Data")
        ->excludes(file);
}

namespace {

CLI::Option* add_template(CLI::App& command, std::string& name, const char* what,
                          const std::vector<std::string>& names) {
    return command.add_option("--template", name, fmt::format("{}:\n{}", what, fmt::join(names, ", ")))
        ->type_name("NAME")
        ->check(CLI::IsMember(names).description(""))  // too long for the line of the option
        ->default_str("the model's");
}

}  // namespace

CLI::Option* add_chat_template(CLI::App& command, std::string& name) {
    return add_template(command, name, "Chat template that turns messages into a prompt", chat_template_names());
}

CLI::Option* add_response_template(CLI::App& command, std::string& name) {
    std::vector<std::string> names = chat_template_names();
    names.insert(names.begin(), kNoTemplate);
    return add_template(command, name,
                        "Chat template of prompts and responses; with none a response just follows its prompt", names);
}

CLI::Option* add_output(CLI::App& command) {
    return command
        .add_option_function<std::string>(
            "-o,--output", [&command](const std::string& path) { write_to(command, path); },
            "Write to this file, not to standard output")
        ->type_name("FILE")
        ->check(not_empty)
        ->group("Output");
}

}  // namespace headscope
