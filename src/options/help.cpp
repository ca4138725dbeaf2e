#include "options/help.h"

#include <memory>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "options/command_tree.h"

namespace headscope {

namespace {

constexpr std::size_t kColumn = 32;  // where descriptions begin
constexpr std::size_t kWidth = 100;

class Layout final : public CLI::Formatter {
public:
    Layout() { column_width(kColumn); }

    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
        std::string text = make_description(app) + make_usage(app, name) + make_positionals(app);
        text += make_subcommands(app, mode);
        for (const OptionGroup& group : text_of(*app).groups) {
            text += "\n" + group.name + ":\n";
            for (const OptionText& option : group.options) {
                text += wrapped(option.label(), option.description);
            }
        }
        return text + "\n" + make_footer(app);
    }

    // Of an argument.
    std::string make_option(const CLI::Option* option, bool positional) const override {
        const OptionText text = text_of(*option, positional);
        return wrapped(text.label(), text.description);
    }

private:
    static std::string wrapped(const std::string& label, const std::string& description) {
        std::string text = "  " + label;
        const std::string indent(kColumn, ' ');
        std::string line = text.size() + 2 > kColumn ? indent : fmt::format("{:<{}}", text, kColumn);
        text = text.size() + 2 > kColumn ? text + "\n" : "";
        std::istringstream words(description);
        for (std::string word; words >> word;) {
            if (line.size() > kColumn && line.size() + 1 + word.size() > kWidth) {
                text += line + "\n";
                line = indent;
            }
            line += (line.size() > kColumn ? " " : "") + word;
        }
        return text + line + "\n";
    }
};

void format_all(CLI::App& app, const std::shared_ptr<CLI::FormatterBase>& layout) {
    app.formatter(layout);
    app.set_help_flag("-h,--help", "Print this help and exit")->group("Help");
    for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        format_all(*command, layout);
    }
}

}  // namespace

void format_help(CLI::App& app) {
    format_all(app, std::make_shared<Layout>());
}

}  // namespace headscope
